#include "engine/watch/problem.h"

#include <regex>

namespace nacelle {

Json problem_json(const std::string& text) {
    Json problem = {{"text", text}};
    const std::string first = text.substr(0, text.find('\n'));
    static const std::regex form(R"((.+):(\d+): (?:error: )?(.*))");
    std::smatch found;
    if (!std::regex_match(first, found, form)) return problem;
    problem["file"] = found[1];
    problem["line"] = std::stoul(found[2].str().substr(0, 9));
    problem["message"] = found[3];
    // "    33 |         s.x += q.dt * s.x_dot;"
    static const std::regex excerpt_form(R"(\n *\d+ \| ?([^\n]*))");
    if (std::regex_search(text, found, excerpt_form)) problem["excerpt"] = found[1];
    return problem;
}

}
