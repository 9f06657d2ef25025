#pragma once
#include "engine/run/settings.h"
#include "engine/run/trainee.h"

namespace nacelle {

// The configuration with every default that environment, learner and run know: it reproduces the run.
Json resolved(Json configuration, Trainee& trainee, const RunSettings& settings);

}
