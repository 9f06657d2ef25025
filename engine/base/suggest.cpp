#include "engine/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <nacelle/plugin/nearest.h>
#include <optional>
#include <utility>

namespace nacelle {
namespace {

constexpr size_t listed_names = 8;

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return result;
}

std::vector<std::string> parts_of(const std::string& name) {
    std::vector<std::string> parts(1);
    for (const char letter : name) {
        if (letter == '.') parts.emplace_back();
        else parts.back() += letter;
    }
    return parts;
}

std::optional<size_t> distance(const std::string& from, const std::string& to) {
    const size_t longest = std::max(from.size(), to.size());
    const size_t difference = longest - std::min(from.size(), to.size());
    if (difference > plugin::most_typing_errors(longest)) return std::nullopt;
    const size_t count = plugin::edit_distance(from, to);
    if (count > plugin::most_typing_errors(longest)) return std::nullopt;
    return count;
}

// Compares part by part from the end, so that `gravty` finds `body.gravity`; a missing part costs one edit.
std::optional<size_t> dotted_distance(const std::string& from, const std::string& to) {
    const std::vector<std::string> wrong = parts_of(from), name = parts_of(to);
    const size_t shared = std::min(wrong.size(), name.size());
    size_t sum = std::max(wrong.size(), name.size()) - shared;
    for (size_t i = 1; i <= shared; ++i) {
        const auto part = distance(wrong[wrong.size() - i], name[name.size() - i]);
        if (!part) return std::nullopt;
        sum += *part;
    }
    return sum;
}

}

std::string suggest(std::string_view wrong, const std::vector<std::string>& names) {
    const std::string typed = lower(wrong);
    const std::string* nearest = nullptr;
    size_t least = 0;
    for (const std::string& name : names) {
        const auto count = dotted_distance(typed, lower(name));
        if (!count || name == wrong || (nearest && *count >= least)) continue;
        nearest = &name;
        least = *count;
    }
    if (nearest) return "did you mean '" + *nearest + "'?";

    std::string list;
    for (size_t i = 0; i < names.size() && i < listed_names; ++i) {
        list += (i == 0 ? "there is: " : ", ") + names[i];
    }
    if (names.size() > listed_names) list += ", ...";
    return list;
}

}
