#include "engine/check/checks.h"

namespace nacelle {

std::span<const Check> all_checks() {
    static constexpr Check checks[] = {
        {"host compiler", check_host_compiler, true},
        {"GPU compiler", check_gpu_compiler},
        {"float arithmetic", check_float_arithmetic},
        {"maths", check_maths},
        {"order of draws", check_draw_order},
        {"indices", check_indices, true},
        {"reset writes", check_reset_writes, true},
        {"observe writes", check_observe_writes, true},
        {"checked build", check_same_as_checked, true},
        {"finite numbers", check_finite, true},
        {"test table", check_step_table},
        {"determinism", check_determinism},
        {"batch split", check_split},
        {"threads", check_threads},
        {"agent order", check_order},
        {"given actions", check_given_actions},
        {"GPU code", check_gpu_path},
        {"time limit", check_time_limit},
        {"masks", check_masks},
        {"snapshots", check_snapshots},
        {"parameters", check_parameters},
        {"constants", check_constants},
        {"CPU = GPU", check_equal_bits},
        {"CPU ~ GPU", check_default_mode},
    };
    return checks;
}

}
