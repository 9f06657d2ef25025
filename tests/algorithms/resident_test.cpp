#include "tests/algorithms/cases.h"
#include "tests/algorithms/left.h"
#include "tests/algorithms/lesson.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// Blocks that keep a network's weights for all steps of a rollout, against a launch for each layer and step.

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Net {
    const char* env;
    Json policy;
    Json learner = Json::object();
    Json constants = Json::object();
};
void hold_to_steps(const std::shared_ptr<RunsOn>& on, const Net& net, uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(net.env);
    CAPTURE(net.policy.dump());
    Json config = for_all(net.policy);
    config["policies"]["default"].update({{"execution", "streamed"}, {"gains", {{"choice", 1.0}}}});
    config.update({{"emulate", true}, {"horizon", 6}, {"minibatches", 1}, {"epochs", 1}});
    config.update(net.learner);
    const auto left = [&](const char* rollout) {
        config["rollout"] = rollout;
        Json env = env_of(net.env, envs);
        if (!net.constants.empty()) env["constants"] = net.constants;
        Lesson lesson(on, env, "ppo", config, seed);
        if (std::string(net.env) != "relay" && net.constants.empty())
            CHECK((lesson.learner().most_steps() > 0) == (std::string(rollout) == "auto"));
        lesson.iterate(2);
        lesson.learner().act(false);
        return left_by(lesson);
    };
    hold_same(left("auto"), left("stepwise"));
}

}

TEST_CASE("a block that keeps the weights leaves the bits of a launch for each layer and step" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_steps(
        quick_cpu(),
        {"relay",
         Json::object(),
         {{"policies",
           {{"runner", {{"hidden", {40}}, {"precision", "bf16"}, {"execution", "streamed"}}},
            {"keeper", {{"hidden", {8}}, {"precision", "bf16"}}}}}}},
        37);
}
TEST_CASE("so it does with layers of odd widths, of two networks and in f32" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    const Net nets[] = {
        {"choices",
         {{"hidden", {1, 255, 63}},
          {"trunk", "separate"},
          {"activation", "relu"},
          {"precision", "bf16"}}},
        {"mixed",
         {{"hidden", {300, 170}},
          {"activation", "silu"},
          {"squash", true},
          {"noise_steps", 3},
          {"precision", "f32"}},
         {{"horizon", 3}}},
    };
    for (const Net& net : nets) hold_to_steps(quick_cpu(), net, 37);
}

// Rows so wide that 32 of them have no room beside any weights, and 16 have some beside all.
TEST_CASE(
    "blocks that keep the weights for one step leave what one agent sees where updates read it" *
    test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_steps(quick_cpu(),
                  {"wide",
                   {{"hidden", Json::array()}, {"precision", "f32"}},
                   {{"horizon", 3}},
                   {{"sights", 1150}}},
                  20);
}

// Tensor cores add up in another order there, and what is drawn by a number that is off by a bit goes elsewhere: one step.
TEST_CASE("a block that keeps the weights chooses on a GPU as a launch for each layer does" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const Json& hidden : {Json{256, 256}, Json{1, 255, 63}, Json{65, 100}, Json{128}})
        for (const char* const precision : {"bf16", "f32"})
            for (const uint32_t envs : {1u, 100u, 4096u}) {
                const uint64_t seed = fresh_seed();
                CAPTURE(seed);
                CAPTURE(hidden.dump());
                CAPTURE(precision);
                CAPTURE(envs);
                std::vector<double> probability[2], choice[2];
                for (const bool together : {false, true}) {
                    Json config = for_all({{"hidden", hidden},
                                           {"precision", precision},
                                           {"execution", "streamed"},
                                           {"gains", {{"choice", 1.0}}}});
                    config.update({{"horizon", 1},
                                   {"minibatches", 1},
                                   {"rollout", together ? "auto" : "stepwise"}});
                    Lesson lesson(on, env_of("pendulum", envs), "ppo", config, seed);
                    lesson.iterate();
                    probability[together] = lesson.numbers("default.kept.log_probability");
                    choice[together] = lesson.numbers("default.kept.choice");
                }
                CHECK(relative_error(choice[1], choice[0]) < 0.1);
                CHECK(relative_error(probability[1], probability[0]) < 0.1);
            }
}
