#pragma once
#include "engine/config/config.h"

namespace nacelle {

// What is wrong, with its place where a compiler has named one: {"text","file","line","message",
// "excerpt"}; text is all of it as a terminal shows it.
Json problem_json(const std::string& text);

}
