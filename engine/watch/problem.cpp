#include "engine/watch/problem.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace nacelle {
namespace {

struct Place {
    std::string_view file, message;
    int line = 0;
};

// "file:12: error: message". What follows the first colon, number and colon is the message.
std::optional<Place> parse_place(std::string_view first) {
    for (size_t colon = first.find(':'); colon != first.npos; colon = first.find(':', colon + 1)) {
        const char* const end = first.data() + first.size();
        int line = 0;
        const auto [behind, wrong] = std::from_chars(first.data() + colon + 1, end, line);
        const size_t rest = size_t(behind - first.data());
        if (wrong != std::errc() || colon == 0 || !first.substr(rest).starts_with(": ")) continue;
        std::string_view message = first.substr(rest + 2);
        constexpr std::string_view kind = "error: ";
        if (message.starts_with(kind)) message.remove_prefix(kind.size());
        return Place{first.substr(0, colon), message, line};
    }
    return std::nullopt;
}

// "    33 |         s.x += q.dt * s.x_dot;"
std::optional<std::string_view> excerpt_of(std::string_view text) {
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1)) {
        std::string_view line = text.substr(end + 1);
        line = line.substr(0, line.find('\n'));
        const size_t digits = std::min(line.find_first_not_of(' '), line.size());
        const size_t bar = std::min(line.find_first_not_of("0123456789", digits), line.size());
        if (bar == digits || !line.substr(bar).starts_with(" |")) continue;
        line.remove_prefix(bar + 2);
        if (line.starts_with(' ')) line.remove_prefix(1);
        return line;
    }
    return std::nullopt;
}

}

Json problem_json(const std::string& text) {
    Json problem = {{"text", text}};
    const auto place = parse_place(std::string_view(text).substr(0, text.find('\n')));
    if (!place) return problem;
    problem["file"] = place->file;
    problem["line"] = place->line;
    problem["message"] = place->message;
    if (const auto excerpt = excerpt_of(text)) problem["excerpt"] = *excerpt;
    return problem;
}

}
