#pragma once
#include "tests/algorithms/cases.h"

// The learner's whole way, from observations to the gradient of all weights, against doubles.
namespace nacelle::test {

// Relative errors that are let pass: 8 bits of a bf16 are a third of a percent.
struct Limits {
    double found, gradient;
};

// Rounding averages out over samples, of which an emulation gets through few.
inline constexpr Limits as_f32{1e-5, 1e-5}, as_bf16{2e-2, 1e-2}, as_bf16_of_few{2e-2, 2e-2};
// Where large terms cancel, single values are off by more: two planes keep 16 bits of a number, and sums over thousands of
// neurons add up what each of their floats has lost.
inline constexpr Limits as_two_planes{3e-5, 1e-5}, as_f32_of_many{3e-5, 1e-5};

// Throws what a learner throws, and fails the running test where it finds something else than doubles do.
void hold_to_doubles(const std::shared_ptr<RunsOn>& on, const Case& c, const Limits& limits,
                     uint32_t envs);

}
