#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Spreads the clocks at which the environments' first episodes begin evenly over the time limit, so that later ones do
// not all end in the same step. Where a run is continued, the clocks come from its checkpoint. Throws where the
// environment has no time limit; `where` names the configuration.
void stagger_first_episodes(Environment& env, bool continued, const std::string& where);

}
