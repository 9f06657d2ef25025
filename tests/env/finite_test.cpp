#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Pays more than a float holds for an action of 10.
EnvSettings generous(const Folder& folder, int count) {
    return settings_of({{"source", folder.write("signals.cu", signals)},
                        {"count", count},
                        {"params", {{"scale", 1e38}}}});
}

}

TEST_CASE("a reward that is infinite is named with its environment and its step") {
    const Folder folder;
    Environment env(cpu(), generous(folder, 300));
    env.check_finite();
    fill_numbers(env, "action.flags", 0);
    for (int t = 0; t < 3; ++t) env.step();
    const uint64_t tick = env.tick();
    std::vector<double> reward(300, 1);
    reward[271] = reward[290] = 10;
    write_numbers(env, "action.reward", reward);
    env.step();
    fill_numbers(env, "action.reward", 1);
    env.step();    // does nothing: the arrays show the offender
    const std::string words = complaint([&] { env.check_finite(); });
    CHECK_MESSAGE(contains(words, "reward of environment 271 is infinite"), words);
    CHECK_MESSAGE(contains(words, "step " + std::to_string(tick)), words);
    CHECK(std::isinf(numbers(env, "reward")[271]));
    CHECK(numbers(env, "reward")[0] == doctest::Approx(1e38));
}

TEST_CASE(
    "an observation that is infinite is named with its environment, its column and its step") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 300}}));
    fill_numbers(env, "action.flags", 0);
    std::vector<double> value(300, 1);
    value[129] = -HUGE_VAL;
    write_numbers(env, "state.value", value);
    const uint64_t tick = env.tick();
    env.step();
    const std::string words = complaint([&] { env.check_finite(); });
    CHECK_MESSAGE(contains(words, "obs of environment 129 is minus infinity in column 0"), words);
    CHECK_MESSAGE(contains(words, "step " + std::to_string(tick)), words);
}

TEST_CASE("nothing moves after a number that is not finite") {
    const Folder folder;
    Environment env(cpu(), generous(folder, 40));
    fill_numbers(env, "action.flags", 0);
    fill_numbers(env, "action.reward", 10);
    env.step();
    const std::vector<double> value = numbers(env, "state.value");
    for (int t = 0; t < 5; ++t) env.step();
    CHECK(numbers(env, "state.value") == value);
    CHECK(contains(complaint([&] { env.check_finite(); }), "reward of environment 0 is infinite"));
}

TEST_CASE(
    "an action that is not a number is named before the reward and the observation after it") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 300}}));
    fill_numbers(env, "action.flags", 0);
    for (int t = 0; t < 2; ++t) env.step();
    const uint64_t tick = env.tick();
    std::vector<double> value(300, 1), reward(300, 1);
    value[3] = HUGE_VAL;           // an author's mistake in the same step
    reward[271] = std::nan("");    // pays what its action says
    write_numbers(env, "state.value", value);
    write_numbers(env, "action.reward", reward);
    env.step();
    const std::string words = complaint([&] { env.check_finite(); });
    CHECK_MESSAGE(contains(words, "action of environment 271 is not finite since step " +
                                      std::to_string(tick) +
                                      " (the environment does not choose actions: a learner"),
                  words);
}

TEST_CASE("an action that becomes infinite after a bad reward is not taken for its cause") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 4}}));
    fill_numbers(env, "action.flags", 0);
    fill_numbers(env, "action.reward", 1);
    std::vector<double> value(4, 1);
    value[2] = std::nan("");
    write_numbers(env, "state.value", value);
    env.step();
    fill_numbers(env, "action.reward", HUGE_VAL);
    env.step();
    const std::string words = complaint([&] { env.check_finite(); });
    CHECK_MESSAGE(contains(words, "obs of environment 2 is not a number in column 0"), words);
}
