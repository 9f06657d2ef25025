#pragma once
#include <string>

namespace nacelle {

// Throws for the first syntax error of a JSON text, in plain words with line and column, and for a
// key that stands twice in one object.
void check_json_syntax(const std::string& text, const std::string& where);

}
