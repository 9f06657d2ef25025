#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Recomputes the observations, masks and overviews of all states with the loaded code, at the tick of the last step;
// nothing else changes. Where a number is not finite it throws and changes nothing.
void observe_again(Environment& env);
// Throws where an observation is not finite. A reset does not check that; the next step would, and would stop the
// run.
void require_finite_observations(Environment& env);

}
