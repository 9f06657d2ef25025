#include "tests/algorithms/gradient.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/sanitized.h"
#include "tests/support/thorough.h"

// Networks that learn on a CPU.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Layers that a CPU computes one by one, beside the widths of its panels and tasks. The last ones have more rows than go
// through at once. None has relu: of a million neurons' inputs some lie so close to its kink that floats and doubles
// fall on different sides.
std::vector<Case> wide_on_cpu() {
    return {with(cases()[1], {{"hidden", {1000, 63, 65}}, {"activation", "silu"}}),
            with(cases()[3], {{"hidden", {255, 64, 1, 512, 3}}}),
            with(cases()[2], {{"hidden", {4096, 5}}, {"trunk", "separate"}})};
}

}

TEST_CASE("the whole gradient is that of the formulas") {
    const auto on = cpu();
    for (const Case& c : few_if_sanitized(cases(), sanitized_cases))
        hold_to_doubles(on, c, as_f32, 150);
}

TEST_CASE("the whole gradient of wide layers is that of the formulas" * test::thorough()) {
    const auto on = quick_cpu();
    for (const Case& c : few_if_sanitized(wide_on_cpu(), {1})) hold_to_doubles(on, c, as_f32, 60);
}

TEST_CASE("the whole gradient of critics that see more is that of the formulas") {
    const auto on = quick_cpu();
    for (const Case& c : few_if_sanitized(overseen_cases(), {1}))
        hold_to_doubles(on, c, as_f32, 150);
}

TEST_CASE("the whole gradient of convolutions is that of the formulas" * test::thorough()) {
    const auto on = quick_cpu();
    for (const size_t i : few_if_sanitized<size_t>({1, 2, 3, 4, 5}, {0}))
        hold_to_doubles(on, convolved_cases()[i], as_f32, 150);
}
