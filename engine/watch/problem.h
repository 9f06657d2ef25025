#pragma once
#include "engine/config/config.h"

namespace nacelle {

// An error as JSON, with the location where a compiler has named one: {"text","file","line","message","excerpt"};
// text is the whole error as a terminal shows it.
Json problem_json(const std::string& text);

}
