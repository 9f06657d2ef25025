#include "engine/run/stagger.h"

#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("staggered episodes end one after the other, and later ones have their whole length") {
    constexpr uint32_t envs = 50, limit = 200;    // a Pendulum ends at its limit alone
    Environment env(cpu(), recommended("pendulum", envs));
    stagger_first_episodes(env, "run.json");
    std::vector<int> ended(2 * limit + 1);
    for (uint32_t t = 1; t <= 2 * limit; ++t) {
        env.step_at_random();
        for (const double over : numbers(env, "truncated")) ended[t] += over != 0;
    }
    for (uint32_t i = 0; i < envs; ++i) {
        const uint32_t first = limit - i * limit / envs;
        CAPTURE(i);
        CHECK(ended[first] == 1);
        CHECK(ended[first + limit] == 1);
    }
    CHECK(std::accumulate(ended.begin(), ended.end(), 0) == 2 * envs);
    // Lengths are those of the steps that were taken.
    const Totals totals = env.take_totals();
    CHECK(totals.episodes == 2 * envs);
    CHECK(totals.mean_length == doctest::Approx((limit + (limit + limit / envs) / 2.0) / 2));
}

TEST_CASE("an environment without a time limit cannot be staggered") {
    Environment env(cpu(), settings_of({{"source", "connect_four"}, {"count", 2}}));
    CHECK(complaint([&] { stagger_first_episodes(env, "run.json"); }) ==
          "run.json: run.stagger: ConnectFour has no time_limit, so that its episodes do not end "
          "together (false)");
}
