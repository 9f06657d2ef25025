#pragma once
#include "engine/check/session.h"

#include <span>

namespace nacelle {

// One property that an environment must have.
struct Check {
    const char* name;
    Finding (*run)(Session&);
    bool basis = false;    // if it is refused, checks that compare runs would only repeat it
};

// All checks in the order in which they run: those that may end the process come first.
std::span<const Check> all_checks();

// Compilers (compiled.cpp).
Finding check_host_compiler(Session&);
Finding check_gpu_compiler(Session&);
Finding check_float_arithmetic(Session&);
Finding check_maths(Session&);
// The text (draws.cpp).
Finding check_draw_order(Session&);
// Data (data.cpp).
Finding check_indices(Session&);
Finding check_reset_writes(Session&);
Finding check_observe_writes(Session&);
Finding check_same_as_checked(Session&);
Finding check_finite(Session&);
// The author's table of single steps (written_steps.cpp).
Finding check_step_table(Session&);
// Equal bits in every way of running (repeat.cpp).
Finding check_determinism(Session&);
Finding check_split(Session&);
Finding check_threads(Session&);
Finding check_order(Session&);
Finding check_given_actions(Session&);
Finding check_gpu_path(Session&);
// Episodes (episodes.cpp).
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
