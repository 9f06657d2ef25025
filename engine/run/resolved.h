#pragma once
#include "engine/run/settings.h"
#include "engine/run/trainee.h"

namespace nacelle {

// The configuration with every default written out, as far as those know them whose defaults they are: it
// makes the same run again.
Json resolved(Json configuration, Trainee& trainee, const RunSettings& settings);

}
