#include "tests/algorithms/cases.h"
#include "tests/algorithms/chances.h"
#include "tests/support/random.h"

// Policies of a team that do not learn, beside one that does.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The relay's runners learn or not, and so do its keepers.
Json roles(const Json& runner, const Json& keeper) {
    Json config = cases()[6].config;
    if (runner == "random") config["policies"]["runner"] = Json::object();
    config["policies"]["runner"]["train"] = runner;
    config["policies"]["keeper"]["train"] = keeper;
    return config;
}

}

TEST_CASE("a policy that is not trained keeps its weights while another learns") {
    Lesson lesson(cpu(), env_of("relay", 100), "ppo", roles(true, false));
    const auto keeper = lesson.numbers("keeper.policy.weights"),
               runner = lesson.numbers("runner.policy.weights");
    lesson.iterate(2);
    CHECK(lesson.numbers("keeper.policy.weights") == keeper);
    CHECK(lesson.numbers("runner.policy.weights") != runner);
    CHECK(!lesson.env().arrays().find("ppo.keeper.policy.moment"));
}
TEST_CASE("a random policy has no network and takes all that is open equally often") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Lesson lesson(cpu(), env_of("relay", 400), "ppo", roles("random", true), seed);
    const auto keeper = lesson.numbers("keeper.policy.weights");
    lesson.iterate(2);
    CHECK(lesson.numbers("keeper.policy.weights") != keeper);
    CHECK(!lesson.env().arrays().find("ppo.runner.policy.weights"));
    const PolicyForm policy = policies_of(lesson).front();
    REQUIRE(policy.name == "runner");
    const Kept kept(lesson, policy);
    std::vector<double> came(3), expected(3);
    each_row(policy, kept, [&](size_t row) {
        for (size_t t = 0; t < kept.steps; ++t) {
            if (!kept.acted_at(t, row)) continue;
            const size_t at = t * kept.rows + row;
            const auto mask = kept.mask_at(at);
            const size_t chosen = size_t(kept.choice_at(at)[0]);
            const double open = mask[0] + mask[1] + mask[2];
            REQUIRE(mask[chosen]);
            came[chosen] += 1;
            for (size_t i = 0; i < 3; ++i) expected[i] += mask[i] / open;
        }
    });
    // Masks make the counts spread less than the test takes them to.
    CHECK(strangeness(came, expected) < 5);
}
TEST_CASE(
    "policies that the configuration gives agents to learn as those of the author's file do") {
    const Json config = for_all({{"hidden", {12}}});
    Json given = env_of("tag_gridworld", 20);
    Lesson own(cpu(), given, "ppo", config);
    given["policies"] = {{"tagger", "0-3"}, {"runner", 4}};
    Lesson assigned(cpu(), given, "ppo", config);
    own.iterate(2);
    assigned.iterate(2);
    CHECK(own.persistent() == assigned.persistent());
}
TEST_CASE("agents of one group may follow several policies") {
    Json env = env_of("trades", 40);
    env["policies"] = {{"one", 1}, {"others", {0, 2}}, {"setter", 3}};
    Json config = for_all({{"hidden", {12}}});
    config["policies"]["others"]["train"] = false;
    config["emulate"] = true;
    config["horizon"] = 8;
    Lesson lesson(cpu(), env, "ppo", config);
    const auto one = lesson.numbers("one.policy.weights"),
               others = lesson.numbers("others.policy.weights"),
               setter = lesson.numbers("setter.policy.weights");
    lesson.iterate(2);
    CHECK(lesson.numbers("one.policy.weights") != one);
    CHECK(lesson.numbers("others.policy.weights") == others);
    CHECK(lesson.numbers("setter.policy.weights") != setter);
}
