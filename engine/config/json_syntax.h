#pragma once
#include <string>
#include <string_view>

namespace nacelle {

// Throws for the first syntax error of a JSON text, in plain words with line and column, and for a
// key that stands twice in one object, a NUL byte, and nesting without measure.
void check_json_syntax(const std::string& text, const std::string& where);

// Where a list or an object begins that lies within `most_json_depth` others, whatever else is wrong with the text;
// npos where there is none. Values are copied and compared by functions that call themselves.
size_t too_deep_at(std::string_view text);

}
