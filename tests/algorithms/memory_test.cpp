#include "engine/match/policy_actor.h"
#include "engine/policy/read_policy_description.h"
#include "engine/run/evaluation.h"
#include "tests/algorithms/examination.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// Networks that remember, against doubles.

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct MostError {
    double found, gradient;
};

struct Remembering {
    const char *env, *learner;
    Json policy, config = Json::object();
};

void hold_memory(const std::shared_ptr<RunsOn>& on, Remembering c, const MostError& limits,
                 uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    CAPTURE(c.policy.dump());
    c.policy["gains"] = {{"choice", 1.0}};
    Json config = {{"horizon", 6},       {"sequence", 3},   {"minibatches", 1},
                   {"learning_rate", 0}, {"entropy", 0.03}, {"value_weight", 0.7},
                   {"gamma", 0.93},      {"lambda", 0.8},   {"policies", {{"default", c.policy}}}};
    if (c.learner == std::string("ppo")) config["epochs"] = 1;
    config.update(c.config);
    Lesson lesson(on, env_of(c.env, envs), c.learner, config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::vector<Normaliser> normalisers;
    lesson.iterate();
    for (const PolicyForm& policy : policies)
        normalisers.push_back(Normaliser::of(lesson, policy.group));
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(policy.name);
        Examination examined(lesson, policy, normalisers[p],
                             lesson.numbers(policy.name + ".policy.weights"));
        examined.hold_rollout(limits.found);
        CHECK(relative_error(lesson.numbers(policy.name + ".policy.total"), examined.slopes()) <
              limits.gradient);
        // With a learning rate of nothing what is reviewed is what it was.
        for (const double ratio : own(policy, examined.kept(), examined.kept().ratio))
            CHECK(std::abs(ratio - 1) < 10 * limits.found);
    }
}

const Json mingru = {{"mingru", 9}}, gru = {{"gru", 7}};
std::vector<Remembering> rememberers() {
    return {
        {"choices", "ppo", {{"hidden", {6, mingru}}}},
        {"choices",
         "ppo",
         {{"hidden", {gru}}, {"trunk", "separate"}},
         {{"advantage", "vtrace"}, {"epochs", 2}, {"sequence", 6}}},
        {"mixed", "a2c", {{"hidden", {gru, mingru, 5}}, {"activation", "silu"}}, {{"sequence", 1}}},
        {"relay",
         "ppo",
         {{"hidden", {mingru, gru}}, {"trunk", "separate"}, {"activation", "silu"}}},
        {"screen", "ppo", {{"hidden", {{{"conv", 5}, {"size", 3}}, 6, mingru}}}},
        {"screen",
         "ppo",
         {{"hidden",
           {{{"conv", 9}, {"size", {3, 2}}, {"stride", 2}, {"padding", 1}},
            {{"conv", 5}, {"size", 2}},
            gru,
            4}},
          {"trunk", "separate"},
          {"activation", "gelu"}},
         {{"advantage", "vtrace"}, {"epochs", 2}}},
    };
}

Remembering emulated(Remembering c, const char* precision) {
    c.config["emulate"] = true;
    c.policy["precision"] = precision;
    return c;
}

}

TEST_CASE("networks that remember choose and learn by the formulas on a GPU's kernels, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    hold_memory(on, emulated(rememberers()[3], "f32"), {1e-5, 1e-5}, 26);
    Remembering in_parts = emulated(rememberers()[4], "bf16");
    in_parts.config.update({{"advantage", "vtrace"}, {"epochs", 2}, {"sequence", 6}});
    hold_memory(on, in_parts, {2e-2, 2e-2}, 130);
}
TEST_CASE("so they do behind odd convolutions, and by launches for each step, on threads" *
          test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    hold_memory(on, emulated(rememberers()[5], "f32"), {1e-5, 1e-5}, 60);
    Remembering in_steps =
        emulated(rememberers()[3], "f32");    // a gru with launches for each step
    in_steps.config["rollout"] = "stepwise";
    hold_memory(on, in_steps, {1e-5, 1e-5}, 26);
}

namespace {

// What greedy episodes come to while a rollout waits, and then all that a checkpoint holds an iteration later.
struct Interrupted {
    double mean_return = 0;
    std::vector<std::byte> later;
};
Interrupted interrupted(const std::shared_ptr<RunsOn>& on, bool emulates, bool evaluates) {
    const Json layers = {8, mingru, gru};
    Json config = {{"horizon", 4},
                   {"minibatches", 1},
                   {"epochs", 1},
                   {"learning_rate", 0},
                   {"policies", {{"default", {{"hidden", layers}}}}}};
    if (emulates) config["emulate"] = true;
    Lesson lesson(on, env_of("blind_cartpole", 20), "ppo", config, 7);
    lesson.iterate();
    Interrupted found;
    if (evaluates)
        found.mean_return = Evaluator(lesson.env(), lesson.learner())
                                .play({.episodes = 20, .seed = 8, .greedy = true})
                                .mean_return;
    lesson.iterate();
    found.later = lesson.persistent();
    return found;
}

}

TEST_CASE("an evaluation leaves what a rollout remembers as it is" * test::thorough()) {
    const Interrupted with = interrupted(cpu(), false, true);
    CHECK(with.later == interrupted(cpu(), false, false).later);
    CHECK(with.mean_return > 5);
#ifndef NACELLE_SANITIZE
    // A GPU's kernels choose alike from the same weights.
    CHECK(interrupted(quick_cpu(), true, true).mean_return == with.mean_return);
#endif
}

TEST_CASE("apart from its learner a policy that remembers plays the same episodes") {
    const Json layers = {12, gru, mingru};
    Lesson lesson(
        cpu(), env_of("blind_cartpole", 20), "ppo",
        {{"horizon", 8}, {"policies", {{"default", {{"hidden", layers}, {"trunk", "separate"}}}}}},
        7);
    lesson.iterate(3);
    const EvaluationRequest request{.episodes = 60, .seed = 8};
    const Evaluation wanted = Evaluator(lesson.env(), lesson.learner()).play(request);
    PolicyDescription description =
        read_policy_description(lesson.learner().policies(), {}, "the learner");
    const auto read = [&](const std::string& name) { return lesson.array(name).host<float>(); };
    Player player{.name = "file",
                  .policies = {std::make_shared<const TrainedPolicy>(std::move(description), read,
                                                                     "the learner")}};
    Evaluator apart(lesson.env(), std::make_unique<PolicyActor>(lesson.env(), std::move(player)));
    CHECK(apart.play(request).mean_return == wanted.mean_return);
    CHECK(apart.play(request).length_interval == wanted.length_interval);
    CHECK(wanted.mean_return > 5);
}

namespace {

// On a GPU, where there is one.
void hold_on_gpu(size_t first, size_t end) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (size_t i = first; i < end; ++i)
        for (const char* const precision : {"f32", "bf16"}) {
            Remembering c = rememberers()[i];
            c.policy["precision"] = precision;
            const bool f32 = c.policy["precision"] == "f32";
            hold_memory(on, c, f32 ? MostError{1e-5, 1e-5} : MostError{2e-2, 2e-2}, f32 ? 60 : 400);
        }
}

}

TEST_CASE("networks that remember choose and learn by the formulas on a GPU" * test::on_gpu()) {
    hold_on_gpu(0, 2);
}
TEST_CASE("networks that remember among other layers, in teams and behind convolutions, on a GPU" *
          test::on_gpu()) {
    hold_on_gpu(2, rememberers().size());
}

TEST_CASE("networks that remember choose and learn by the formulas" * test::thorough()) {
    const auto on = quick_cpu();
    for (const Remembering& c : few_if_sanitized(rememberers(), {0, 3, 5}))
        hold_memory(on, c, {1e-5, 1e-5}, 40);
}
