#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Whether an iteration of so many steps, of all environments together, is shorter than the time limit. Where episodes end
// at the limit alone, all environments are then in the same part of an episode, and an update learns from that part only.
bool sees_one_phase(const Environment& env, uint64_t steps_per_iteration);

// Spreads the clocks at which the environments' first episodes begin evenly over the time limit, so that later ones do
// not all end in the same step. A checkpoint that is loaded afterwards has clocks of its own. Throws where the
// environment has no time limit; `where` names the configuration.
void stagger_first_episodes(Environment& env, const std::string& where);

}
