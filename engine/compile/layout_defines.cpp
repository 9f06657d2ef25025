#include "engine/compile/layout_defines.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

#include <charconv>
#include <cmath>

namespace nacelle {
namespace {

bool is_letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Always with an exponent, which makes it a double.
std::string number_text(double value, const std::string& name, const std::string& where) {
    if (!std::isfinite(value))
        throw Error(where, "env.constants." + name + ": is no finite number");
    char digits[40];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::scientific);
    return {digits, end.ptr};
}

}

bool is_dotted_name(std::string_view text) {
    bool begins = true;
    for (const char c : text) {
        if (begins ? !is_letter(c) : !is_letter(c) && !is_digit(c) && c != '.') return false;
        begins = c == '.';
    }
    return !begins && is_printable_line(text);
}

bool is_name(std::string_view text) { return is_dotted_name(text) && text.find('.') == text.npos; }

std::string quoted_name(const std::string& name, const std::string& key, const std::string& where) {
    if (!is_dotted_name(name))
        throw Error(where, key + ": '" + printable(name) + "' is no name",
                    "a name has letters, digits and '_', and dots between its parts");
    return '"' + name + '"';
}

std::vector<std::string> layout_defines(const std::map<std::string, double>& constants,
                                        const std::set<std::string>& varied,
                                        const AssignedPolicies& policies,
                                        const std::string& where) {
    std::string given, drawn;
    for (const auto& [name, value] : constants) {
        const std::string word = quoted_name(name, "env.constants", where);
        given += "{" + word + "," + number_text(value, name, where) + "},";
    }
    for (const std::string& name : varied) drawn += quoted_name(name, "env.params", where) + ",";
    std::vector<std::string> defines = policy_defines(policies, where);
    if (!given.empty()) defines.push_back("NACELLE_CONSTANTS=" + given);
    if (!drawn.empty()) defines.push_back("NACELLE_VARIED=" + drawn);
    return defines;
}

}
