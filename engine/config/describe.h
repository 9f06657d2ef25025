#pragma once
#include "engine/config/config.h"

#include <string>

namespace nacelle {

// A value as a message shows it: as JSON where that is short, else what it is.
std::string describe(const Json& value);
// A number without digits that nobody wrote: 1, 0.5, 1e-08.
std::string number_text(double number);

}
