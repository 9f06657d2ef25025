#include "tests/algorithms/cases.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// All that a checkpoint would hold, after three iterations.
std::vector<std::byte> learnt(Case c, int threads, uint64_t seed, uint32_t envs = 100) {
    c.config.update({{"horizon", 13}, {"minibatches", 3}});
    if (c.learner == "ppo") c.config["epochs"] = 2;
    Lesson lesson(cpu(threads), env_of(c.env, envs), c.learner, c.config, seed);
    lesson.iterate(3);
    return lesson.persistent();
}
void repeat(Case c, const Json& more = Json::object()) {
    c.config.update(more, true);
    CAPTURE(c.env);
    CAPTURE(c.learner);
    const auto one = learnt(c, 1, 5);
    REQUIRE(one.size() > 1000);
    CHECK(one == learnt(c, 1, 5));
    CHECK(one == learnt(c, 2, 5));
    CHECK(one == learnt(c, 5, 5));
    CHECK(one != learnt(c, 2, 6));
}

}

TEST_CASE(
    "what is learnt is the same to the bit on any number of threads, and another with each seed" *
    test::thorough()) {
    // More rows than go through wide layers at once.
    Json wide = for_all({{"hidden", {4096, 17}}, {"activation", "gelu"}});
    wide["advantage"] = "vtrace";
    const std::vector<std::pair<size_t, Json>> asked = {
        {4, {{"normalise_advantages", "minibatch"}}},
        {6, {{"advantage", "vtrace"}}},
        {7, Json::object()},
    };
    for (const auto& [place, more] : few_if_sanitized(asked, {0, 1})) repeat(cases()[place], more);
#ifndef NACELLE_SANITIZE
    {
        const CompiledBy with_vectors("quick_compiler");    // these compute more than they compile
        Case c = cases()[0];
        c.config.update(wide, true);
        CHECK(learnt(c, 1, 5, 300) == learnt(c, 5, 5, 300));
    }
#endif
    // As memory_test.cpp has it: what is compiled for one serves both.
    const Json layers = {Json{{"mingru", 9}}, Json{{"gru", 7}}};
    repeat({"relay", "ppo",
            for_all({{"hidden", layers}, {"trunk", "separate"}, {"activation", "silu"}})});
}
TEST_CASE("what convolutions learn is the same to the bit, too" * test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("gradients of convolutions go through the same code: the plain build has it");
#endif
    repeat(convolved_cases()[1]);
}
TEST_CASE("what convolutions learn on a GPU is the same to the bit, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    return;    // a thread of the host for each of a GPU's takes minutes
#endif
    Case c = convolved_cases()[2];
    c.config.update({{"emulate", true}, {"horizon", 3}});
    const auto once = [&] {
        Lesson lesson(quick_cpu(), env_of(c.env, 40), c.learner, c.config, 5);
        lesson.iterate(2);
        return lesson.persistent();
    };
    CHECK(once() == once());
}
TEST_CASE("a launch for each step gives the bits of one for all of them") {
    // Teams as small as these are chosen for in launches of their own where there are more.
    const std::vector<std::pair<size_t, uint32_t>> asked = {{3, 100}, {6, 3}};
    for (const auto& [place, envs] : few_if_sanitized(asked, {1})) {
        Case c = cases()[place];
        const auto together = learnt(c, 2, 7, envs);
        c.config["rollout"] = "stepwise";
        CHECK(together == learnt(c, 2, 7, envs));
    }
}
