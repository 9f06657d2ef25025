#include "tests/algorithms/cases.h"
#include "tests/algorithms/chances.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// The noise of continuous actions that stays for some steps.

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr uint32_t envs = 200, horizon = 30, steps = 4;

// What a policy that sees nothing draws: its noise alone.
std::vector<double> noise(int64_t noise_steps, bool emulate, uint64_t seed) {
    const Json policy = {{"gains", {{"choice", 0}}}, {"noise_steps", noise_steps}, {"hidden", {8}}};
    Lesson lesson(emulate ? quick_cpu() : cpu(), env_of("pendulum", envs), "ppo",
                  {{"horizon", horizon},
                   {"epochs", 1},
                   {"minibatches", 1},
                   {"emulate", emulate},
                   {"policies", {{"default", policy}}}},
                  seed);
    lesson.iterate(1);
    return Kept(lesson, policies_of(lesson).front()).choice;
}

}

TEST_CASE("noise stays for as many steps as it was asked to, and is normal") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const std::vector<double> held = noise(steps, false, seed);
    REQUIRE(held.size() == envs * horizon);
    std::vector<uint32_t> changes;
    for (uint32_t t = 1; t < horizon; ++t) {
        uint32_t changed = 0;
        for (uint32_t i = 0; i < envs; ++i)
            changed += held[t * envs + i] != held[(t - 1) * envs + i];
        if (changed == 0) continue;
        CHECK(changed == envs);
        changes.push_back(t);
    }
    REQUIRE(changes.size() >= horizon / steps - 1);
    for (size_t i = 1; i < changes.size(); ++i) CHECK(changes[i] - changes[i - 1] == steps);
    CHECK(changes.front() <= steps);
    std::vector<double> came(20), expected(20, double(envs) * double(changes.size()) / 20);
    double last = 0, together = 0;
    for (const uint32_t t : changes)
        for (uint32_t i = 0; i < envs; ++i) {
            const double x = held[t * envs + i];
            came[size_t(std::min(normal_share_below(x) * 20, 19.0))] += 1;
            together += x * last;
            last = x;
        }
    CHECK(strangeness(came, expected) < 5);
    CHECK(std::abs(together) < 5 * std::sqrt(double(envs) * double(changes.size())));
}
TEST_CASE("a GPU's kernels hold the same noise, and one step is no time at all" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes long here: the plain build has it");
#endif
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CHECK(relative_error(noise(steps, true, seed), noise(steps, false, seed)) < 1e-5);
    const std::vector<double> fresh = noise(1, false, seed);
    uint32_t same = 0;
    for (size_t i = envs; i < fresh.size(); ++i) same += fresh[i] == fresh[i - envs];
    CHECK(same < 5);
}
