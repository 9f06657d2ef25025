#include "engine/nacelle.hpp"
#include "tests/policy/saved.h"
#include "tests/support/random.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The actions of many rows that see the same.
std::vector<float> drawn(Policy& policy, size_t rows, float first, float second,
                         const std::vector<uint8_t>& mask = {}) {
    std::vector<float> seen, actions(rows * policy.parts());
    std::vector<uint8_t> masks;
    for (size_t row = 0; row < rows; ++row) {
        seen.insert(seen.end(), {first, second});
        masks.insert(masks.end(), mask.begin(), mask.end());
    }
    policy.sample(seen, actions, masks);
    return actions;
}

}

TEST_CASE("a policy draws as often as its scores say, within masks, and about its means") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const SavedRun run;
    run.save(10, true);
    Policy policy(run.path());
    policy.seed(seed);
    constexpr size_t rows = 20000;
    for (const std::vector<uint8_t>& mask :
         {std::vector<uint8_t>{}, {1, 0, 1}, {0, 0, 1}, {0, 0, 0}}) {
        const std::vector<float> actions = drawn(policy, rows, 0.7f, -0.4f, mask);
        std::vector<double> weight = {std::exp(0.7), std::exp(-0.4), 1};
        for (size_t i = 0; i < mask.size(); ++i) weight[i] *= mask[i];
        double all = weight[0] + weight[1] + weight[2];
        if (all == 0) all = weight[0] = 1;    // nothing is open: the first one
        std::vector<double> came(3);
        double sum = 0, inside = 0;
        for (size_t row = 0; row < rows; ++row) {
            came[size_t(actions[2 * row])] += 1;
            const double unit = (double(actions[2 * row + 1]) + 2) / 2.5 - 1;
            CHECK(std::abs(unit) <= 1 + 1e-6);
            sum += unit;
            inside += std::abs(unit) < 0.999;
        }
        for (size_t i = 0; i < 3; ++i) {
            const double p = weight[i] / all;
            CHECK(std::abs(came[i] - p * rows) <= 5.5 * std::sqrt(p * (1 - p) * rows) + 1e-6);
        }
        // A normal number about 0.35 with a deviation of 1/2, cut at -1 and 1: by its distribution function.
        CHECK(std::abs(sum / rows - 0.3278) < 0.02);
        CHECK(std::abs(inside / rows - 0.8994) < 0.012);
    }
}

TEST_CASE("the same seed and the same calls draw the same actions, and each call other ones") {
    const SavedRun run;
    run.save(10, true);
    Policy policy(run.path());
    policy.seed(3);
    const std::vector<float> first = drawn(policy, 50, 0, 0), second = drawn(policy, 50, 0, 0);
    CHECK(first != second);
    policy.seed(3);
    CHECK(drawn(policy, 50, 0, 0) == first);
    CHECK(drawn(policy, 50, 0, 0) == second);
    Policy copy = policy;
    CHECK(drawn(copy, 50, 0, 0) == drawn(policy, 50, 0, 0));
    policy.seed(4);
    CHECK(drawn(policy, 50, 0, 0) != first);
}

TEST_CASE("noise that is held for some steps stays the same for so many calls") {
    Json pilot = gears_and_push();
    pilot["noise_steps"] = 3;
    const SavedRun run(Json{{"pilot", pilot}});
    run.save(10, true);
    Policy policy(run.path());
    std::vector<std::vector<float>> pushes, gears;
    for (int call = 0; call < 6; ++call) {
        const std::vector<float> actions = drawn(policy, 40, 0, 0);
        pushes.emplace_back();
        gears.emplace_back();
        for (size_t row = 0; row < 40; ++row) {
            gears.back().push_back(actions[2 * row]);
            pushes.back().push_back(actions[2 * row + 1]);
        }
    }
    CHECK(pushes[0] == pushes[1]);
    CHECK(pushes[0] == pushes[2]);
    CHECK(pushes[2] != pushes[3]);
    CHECK(pushes[3] == pushes[5]);
    CHECK(gears[0] != gears[1]);
}
