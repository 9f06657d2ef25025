#pragma once
#include <string>
#include <string_view>

namespace nacelle {

// Throws for the first syntax error of a JSON text with line and column, for duplicate keys, for a NUL byte and for
// nesting that is too deep.
void check_json_syntax(const std::string& text, const std::string& where);

// The position of the first list or object that lies within `most_json_depth` others, or npos; the text may be
// otherwise invalid. Values are copied and compared by recursive functions, so that their depth is limited.
size_t too_deep_at(std::string_view text);

}
