#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// What of a configuration decides how fast its training is, in one line. It may be one that nobody has
// checked.
std::string learner_text(const Json& configuration);

}
