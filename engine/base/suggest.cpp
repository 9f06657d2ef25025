#include "engine/base/suggest.h"

#include <algorithm>
#include <cctype>
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

// The largest distance that counts as a typing error in a word of this length.
size_t allowed(size_t length) {
    if (length <= 1) return 0;
    if (length <= 5) return 1;
    return length <= 8 ? 2 : 3;
}

std::optional<size_t> distance(const std::string& from, const std::string& to) {
    const size_t longest = std::max(from.size(), to.size());
    const size_t difference = longest - std::min(from.size(), to.size());
    if (difference > allowed(longest)) return std::nullopt;
    const size_t count = edit_distance(from, to);
    if (count > allowed(longest)) return std::nullopt;
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

size_t edit_distance(const std::string& from, const std::string& to) {
    std::vector<size_t> before, last, row(to.size() + 1);
    for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= from.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (size_t j = 1; j <= to.size(); ++j) {
            const size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row.back();
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
