#include "engine/jit/compile_helpers.h"

#include <charconv>

namespace nacelle {
namespace {

size_t number_in(const std::string& text) {
    size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}

// Parts, each terminated by a NUL, which no source contains. Their number comes first, so that a text that was cut
// short is detected.
std::string text_of(const ProgramSource& source) {
    std::vector<std::string> parts{
        source.author.string(), source.instantiation, source.draft ? "draft" : "",
        std::to_string(source.headers.size()), std::to_string(source.defines.size())};
    for (const MemoryHeader& header : source.headers)
        parts.insert(parts.end(), {header.name, header.text});
    for (const auto* const list : {&source.defines, &source.options})
        parts.insert(parts.end(), list->begin(), list->end());
    std::string text = std::to_string(parts.size()) + '\0';
    for (const std::string& part : parts) (text += part) += '\0';
    return text;
}

std::optional<ProgramSource> source_from(std::string_view text) {
    std::vector<std::string> parts;
    for (size_t end; (end = text.find('\0')) != text.npos; text.remove_prefix(end + 1))
        parts.emplace_back(text.substr(0, end));
    constexpr size_t leading = 6;
    if (!text.empty() || parts.size() < leading || number_in(parts[0]) != parts.size() - 1)
        return std::nullopt;
    const size_t headers = number_in(parts[4]), defines = number_in(parts[5]);
    const size_t lists = parts.size() - leading;
    if (headers > lists / 2 || defines > lists - 2 * headers) return std::nullopt;
    ProgramSource source{
        .author = parts[1], .instantiation = parts[2], .draft = parts[3] == "draft"};
    auto at = parts.begin() + leading;
    for (size_t i = 0; i < headers; ++i, at += 2) source.headers.push_back({at[0], at[1]});
    const auto options = at + std::ptrdiff_t(defines);
    source.defines.assign(at, options);
    source.options.assign(options, parts.end());
    return source;
}

}
