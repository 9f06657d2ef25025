#pragma once
#include "engine/config/config.h"

#include <string>

namespace nacelle {

// A value as messages show it: as JSON where that is short, else its type.
std::string describe(const Json& value);
// The value, with single floats, also those in lists, in the digits that their author wrote: 0.4, not
// 0.4000000059604645.
Json short_floats(const Json& value);
// A number without spurious digits: 1, 0.5, 1e-08.
std::string number_text(double number);

}
