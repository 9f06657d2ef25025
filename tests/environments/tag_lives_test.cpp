#include "tests/env/workbench.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>

// What tag_continuous logs of its runners' lives, counted from who is in the game after each step.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a runner's life is the steps until it is tagged, or all of them") {
    constexpr uint32_t count = 16, taggers = 3, runners = 5, limit = 120;
    Json settings =
        Json::parse(R"({"source": "tag_continuous", "params": {"tagging_distance": 0.3}})");
    settings["count"] = count;
    settings["constants"] = {{"taggers", taggers}, {"runners", runners}, {"time_limit", limit}};
    Environment env(cpu(1), settings_of(settings, fresh_seed()));
    std::vector<double> lived(count);
    Dice dice(fresh_seed());
    int ended = 0, cleared = 0;
    for (uint32_t t = 0; t < 3 * limit; ++t) {
        std::vector<double> there = numbers(env, "agent.in_game"), choices;
        for (uint32_t e = 0; e < count; ++e)
            for (uint32_t i = taggers; i < taggers + runners; ++i)
                lived[e] += there[e * (taggers + runners) + i];
        for (uint32_t i = 0; i < count * (taggers + runners); ++i)
            choices.push_back(dice.below(11));
        write_numbers(env, "action.accelerate", choices);
        write_numbers(env, "action.turn", choices);
        env.step();
        const std::vector<double> terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated"),
                                  life = numbers(env, "log.life");
        for (uint32_t e = 0; e < count; ++e) {
            if (terminated[e] + truncated[e] == 0) continue;
            CHECK(life[e] == doctest::Approx(lived[e] / runners));
            lived[e] = 0;
            ++ended;
            cleared += terminated[e] != 0;
        }
    }
    CHECK(ended >= int(count));
    CHECK(cleared > 0);
}
