#pragma once
#include "tests/algorithms/cases.h"

// The learner's whole way, from observations to the gradient of all weights, against doubles.
namespace nacelle::test {

// Relative errors that are let pass: 8 bits of a bf16 are a third of a percent.
struct Limits {
    double found, gradient;
    double rounding = 0x1p-24;    // of a number in a product
    double keeping = 0;           // of a weight, and of what goes into it, when it is kept
};

// Rounding averages out over samples, of which an emulation gets through few.
inline constexpr Limits as_f32{1e-5, 1e-5}, as_bf16{2e-2, 1e-2, 0x1p-24, 0x1p-8},
    as_bf16_of_few{2e-2, 2e-2, 0x1p-24, 0x1p-8};
// A GPU's tensor core cuts off what a sum has no place for, up to the last place of it and always to the same side.
inline constexpr Limits as_f32_cut{1e-5, 1e-5, 0x1p-22};
inline constexpr Limits as_two_planes{1e-5, 1e-5, 0x1p-17};    // which keep 16 bits of a number

// Throws what a learner throws, and fails the running test where it finds something else than doubles do.
void hold_to_doubles(const std::shared_ptr<RunsOn>& on, const Case& c, const Limits& limits,
                     uint32_t envs);

}
