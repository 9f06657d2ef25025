#include "tests/algorithms/cases.h"
#include "tests/algorithms/left.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// All steps of a team's rollout in one launch, against a launch for each step.

using namespace nacelle;
using namespace nacelle::test;

namespace {

Left left_by(const std::shared_ptr<RunsOn>& on, Case c, const char* rollout, uint32_t envs,
             uint64_t seed) {
    c.config["rollout"] = rollout;
    Json env = env_of(c.env, envs);
    if (c.env ==
        "tag_gridworld")    // more agents than a warp has lanes, and no whole number of rounds
        env["constants"] = {{"taggers", 68}, {"observe_all", false}, {"time_limit", 7}};
    Lesson lesson(on, env, c.learner, c.config, seed);
    lesson.iterate(2);
    return left_by(lesson);
}
void hold_to_pair(const std::shared_ptr<RunsOn>& on, Case c, const Json& policy,
                  const Json& learner, uint32_t envs) {
    for (auto& [name, settings] : c.config["policies"].items()) settings.update(policy);
    c.config.update(learner);
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    hold_same(left_by(on, c, "auto", envs, seed), left_by(on, c, "stepwise", envs, seed));
}
Case tag(const Json& runner) {
    Case c{"tag_gridworld", "ppo", for_all({{"hidden", {16}}})};
    c.config["policies"]["runner"] = runner;
    return c;
}
const Json bf16 = {{"precision", "bf16"}}, f32 = {{"precision", "f32"}},
           in_emulation = {{"emulate", true}, {"horizon", 9}, {"minibatches", 1}, {"epochs", 1}};

}

TEST_CASE("one launch for all steps of teams leaves the bits of a launch for each" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_pair(quick_cpu(), cases()[7], bf16, in_emulation, 21);
    hold_to_pair(quick_cpu(), tag({{"train", false}, {"hidden", {8}}}), f32, in_emulation, 3);
}
TEST_CASE("so it does beside agents that play at random" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_pair(quick_cpu(), tag({{"train", "random"}}), Json::object(), in_emulation, 3);
}
TEST_CASE("one launch for all steps of teams leaves on a GPU the bits of a launch for each" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const size_t i : {6, 7})
        for (const Json& precision : {bf16, f32})
            for (const uint32_t envs : {1u, 60u, 2000u})
                hold_to_pair(on, cases()[i], precision, Json::object(), envs);
}
