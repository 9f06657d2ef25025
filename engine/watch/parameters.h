#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Every parameter of an environment with what a slider needs: [{"name","kind","value","default","low",
// "high","step"},...]. kind: number, whole, flag, list, drawn (a distribution) or table. The range goes
// from nothing to three times the default; any other number can be given as well.
Json parameters_json(const Environment& env);

}
