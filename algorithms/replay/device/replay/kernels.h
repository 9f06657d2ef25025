#pragma once
#include <replay/sum_tree.h>
// The kernels of learners with a replay: those that step around the author's functions, the others around sizes.

#define REPLAY_KERNEL(name) NACELLE_KERNEL(replay_##name, replay::Arguments, 128, replay::name)
#define REPLAY_STEP() NACELLE_ENV_KERNEL(replay_step, replay::Arguments, replay::step)
