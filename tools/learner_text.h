#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// The settings that decide how fast training is, in one line. The configuration may be unchecked.
std::string learner_text(const Json& configuration);

}
