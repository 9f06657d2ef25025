#include "tests/algorithms/gradient.h"
#include "tests/algorithms/left.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// Observations that a rollout keeps in bf16, by kernels for GPUs.

using namespace nacelle;
using namespace nacelle::test;

namespace {

const Json in_bf16 = {{"kept_observations", "bf16"}},
           in_short = {{"horizon", 2}, {"minibatches", 1}};

// All that two iterations leave but what is kept, which is not normalised.
Left left_behind(const std::shared_ptr<RunsOn>& on, Case c, const char* kept, uint32_t envs,
                 uint64_t seed) {
    c.config.update(Json{{"kept_observations", kept}, {"normalise_observations", false}});
    Json env = env_of(c.env, envs);
    if (!c.constants.empty()) env["constants"] = c.constants;
    Lesson lesson(on, env, c.learner, c.config, seed);
    lesson.iterate(2);
    Left all = left_by(lesson);
    std::erase_if(all, [](const auto& one) {
        const std::string& name = one.first;
        return name.ends_with("kept.obs") || name.ends_with("kept.final_obs") ||
               name.ends_with("obs.slots") || name.ends_with(".places");
    });
    return all;
}
void hold_to_floats(const std::shared_ptr<RunsOn>& on, const Case& c, uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    CAPTURE(json_text(c.config));
    hold_same(left_behind(on, c, "bf16", envs, seed), left_behind(on, c, "f32", envs, seed));
}
Case crowd(int sights, Json policy) {
    policy.update({{"precision", "bf16"}, {"gains", {{"choice", 1.0}}}});
    return {"crowd", "ppo", for_all(policy), {{"sights", sights}}};
}

// Networks that see, and in how many environments.
struct Sight {
    Case network;
    uint32_t envs;
};
Case on_threads_of(const Sight& one) {
    return with(one.network, Json::object(), {{"emulate", true}});
}
// Teams in one launch by warps, and one agent in steps.
std::vector<Sight> few_sights() {
    return {{with(crowd(33, {{"hidden", {17}}}), Json::object(), in_short), 9},
            {with(streamed(1, "bf16"), Json::object(), in_short), 30}};
}
// A launch a step, layers that remember, critics that see more, and one agent in one launch.
std::vector<Sight> more_sights() {
    const Json by_steps = {{"horizon", 2}, {"minibatches", 1}, {"rollout", "stepwise"}};
    return {
        {with(crowd(71, {{"hidden", {70, 9}}, {"execution", "row_pass"}}), Json::object(),
              by_steps),
         9},
        // More than the lanes of a row take at once.
        {with(crowd(261, {{"hidden", {9}}, {"execution", "streamed"}}), Json::object(), by_steps),
         9},
        {with(crowd(35, {{"hidden", {{{"gru", 9}}}}}), Json::object(), in_short), 9},
        {with(overseen(1, "bf16", "fused"), Json::object(), in_short), 9},
        {with(cases()[0], narrow, in_short), 30}};
}

}

TEST_CASE("networks in bf16 see the same bits whatever is kept of observations, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this: a thread of the host for each of a GPU's");
#endif
    for (const Sight& one : few_sights()) hold_to_floats(quick_cpu(), on_threads_of(one), one.envs);
}
TEST_CASE("so do networks of other forms, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this: a thread of the host for each of a GPU's");
#endif
    for (const Sight& one : more_sights())
        hold_to_floats(quick_cpu(), on_threads_of(one), one.envs);
}
TEST_CASE("networks in bf16 see the same bits on a GPU whatever is kept of observations" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const std::vector<Sight>& sights : {few_sights(), more_sights()})
        for (const Sight& one : sights) hold_to_floats(on, one.network, 20 * one.envs);
}

TEST_CASE("the whole gradient of rows of many numbers that are kept in bf16 is that of the "
          "formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this: a thread of the host for each of a GPU's");
#endif
    hold_to_doubles(
        quick_cpu(),
        with(with(much_seen()[0], Json::object(), briefly_on_threads), Json::object(), in_bf16),
        as_bf16_of_few, 60);
}
TEST_CASE("so is that of a2c, of shards and of a row pass, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this: a thread of the host for each of a GPU's");
#endif
    hold_to_doubles(
        quick_cpu(),
        with(with(much_seen()[1], Json::object(), briefly_on_threads), Json::object(), in_bf16),
        as_bf16_of_few, 60);
    // Shards are summed behind a rollout.
    hold_to_doubles(quick_cpu(),
                    with(with(crowd(129, {{"hidden", {9}}}), Json::object(), briefly_on_threads),
                         {{"trunk", "separate"}}, {{"kept_observations", "bf16"}, {"shards", 2}}),
                    as_bf16_of_few, 60);
    hold_to_doubles(quick_cpu(),
                    with(with(crowd(71, {{"hidden", {70, 9}}, {"execution", "row_pass"}}),
                              Json::object(), briefly_on_threads),
                         Json::object(), in_bf16),
                    as_bf16_of_few, 60);
}
