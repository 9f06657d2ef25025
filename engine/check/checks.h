#pragma once
#include "engine/check/session.h"

#include <span>

namespace nacelle {

// One thing that must hold of an environment.
struct Check {
    const char* name;
    Finding (*run)(Session&);
    bool basis = false;    // where it is refused, what compares runs would only show it again
};

// All of them, in the order in which they run: what ends the process comes as early as it can.
std::span<const Check> all_checks();

// Compilers (compiled.cpp).
Finding check_host_compiler(Session&);
Finding check_gpu_compiler(Session&);
Finding check_float_arithmetic(Session&);
Finding check_maths(Session&);
// Data (data.cpp).
Finding check_indices(Session&);
Finding check_reset_writes(Session&);
Finding check_observe_writes(Session&);
Finding check_same_as_checked(Session&);
Finding check_finite(Session&);
// What the author has written down of single steps (written_steps.cpp).
Finding check_step_table(Session&);
// The same bits in every way of running (repeat.cpp).
Finding check_determinism(Session&);
Finding check_split(Session&);
Finding check_threads(Session&);
Finding check_order(Session&);
Finding check_given_actions(Session&);
Finding check_gpu_path(Session&);
// Play (play.cpp).
Finding check_time_limit(Session&);
Finding check_masks(Session&);
Finding check_snapshots(Session&);
// Settings (settings.cpp).
Finding check_parameters(Session&);
Finding check_constants(Session&);
// A GPU (gpu.cpp).
Finding check_equal_bits(Session&);
Finding check_default_mode(Session&);

}
