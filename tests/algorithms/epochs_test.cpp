#include "tests/algorithms/cases.h"
#include "tests/algorithms/order.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"

// Updates after the first one: choices whose probabilities have moved, and samples in minibatches.

using namespace nacelle;
using namespace nacelle::test;

namespace {

Json quick(const Json& more) {
    Json config = {{"horizon", 10}, {"minibatches", 1},  {"learning_rate", 0.03}, {"entropy", 0.02},
                   {"clip", 0.15},  {"value_clip", 0.2}, {"gamma", 0.93},         {"lambda", 0.8}};
    config.update(more);
    return config;
}

// The weights before the last of several updates are those that a run with one epoch fewer ends with.
void hold_later_update(const Case& c, const Json& more = Json::object()) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    const auto on = cpu();
    const auto of = [&](int epochs) {
        Json config = quick(c.config);
        config.update(more);
        config["epochs"] = epochs;
        return std::make_unique<Lesson>(on, env_of(c.env, 140), "ppo", config, seed);
    };
    const auto before = of(2), after = of(3);
    const std::vector<PolicyForm> policies = policies_of(*after);
    std::vector<std::vector<double>> start;
    std::vector<Normaliser> normalisers;
    for (const PolicyForm& policy : policies) {
        start.push_back(after->numbers(policy.name + ".policy.weights"));
        normalisers.push_back(Normaliser::of(*after, policy.group));
    }
    before->iterate();
    after->iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(policy.name);
        const Kept kept(*after, policy);
        REQUIRE(kept.choice == Kept(*before, policy).choice);
        const Scholar first(policy, start[p], normalisers[p]),
            now(policy, before->numbers(policy.name + ".policy.weights"), normalisers[p]);
        Returns returns;
        returns.see(policy, kept);
        const bool traced = policy.dials.at("advantage") == "vtrace";
        const Found found = found_by(traced ? now : first, policy, kept, returns.scale());
        CHECK(relative_error(own(policy, kept, kept.advantage),
                             own(policy, kept, found.advantage)) < 1e-5);
        std::vector<Scholar::Sample> samples = samples_of(policy, kept, found);
        normalise_advantages(samples);
        const Scholar::Study study = now.study(samples);
        CHECK(study.clipped > 0.02);    // the choices have moved
        CHECK(relative_error(after->numbers(policy.name + ".policy.total"), study.slopes) < 1e-5);
    }
}

// In the second iteration the first half of the samples moves the policy so far that the second half's gradient is found and
// not followed: that gradient, of the first epoch, is what stays. Its advantages are those of the rollout's own policy.
void hold_first_epoch(const std::shared_ptr<RunsOn>& on, const Case& c, uint64_t horizon) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    Json config = quick(c.config);
    config.update({{"horizon", horizon},
                   {"advantage", "vtrace"},
                   {"ratio_bound", 1.3},
                   {"trace_bound", 1.1},
                   {"epochs", 2},
                   {"minibatches", 2},
                   {"value_clip", 0},
                   {"target_kl", {{"exponential", {1e3, 1e-6}}}},
                   {"normalise_advantages", "minibatch"}});
    Lesson lesson(on, env_of(c.env, 140), "ppo", config, seed, horizon);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    lesson.iterate();
    std::vector<Returns> returns(policies.size());
    std::vector<Normaliser> normalisers;
    std::vector<std::vector<double>> start;
    for (size_t p = 0; p < policies.size(); ++p) {
        const Kept kept(lesson, policies[p]);
        const std::vector<double> ratios = own(policies[p], kept, kept.ratio);
        CHECK(std::ranges::any_of(ratios, [](double ratio) { return ratio > 1.1; }));
        returns[p].see(policies[p], kept);
        normalisers.push_back(Normaliser::of(lesson, policies[p].group));
        start.push_back(lesson.numbers(policies[p].name + ".policy.weights"));
    }
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(policy.name);
        const Kept kept(lesson, policy);
        returns[p].see(policy, kept);
        const Scholar first(policy, start[p], normalisers[p]),
            now(policy, lesson.numbers(policy.name + ".policy.weights"), normalisers[p]);
        const Found found = found_by(first, policy, kept, returns[p].scale());
        CHECK(relative_error(own(policy, kept, kept.advantage),
                             own(policy, kept, found.advantage)) < 1e-5);
        const std::vector<Scholar::Sample> all = samples_of(policy, kept, found);
        const auto order = shuffled(uint32_t(all.size()), seed, 1, 0, uint32_t(p));
        std::vector<Scholar::Sample> half;
        for (size_t i = all.size() / 2; i < all.size(); ++i) half.push_back(all[order[i]]);
        normalise_advantages(half);
        const Scholar::Study study = now.study(half);
        CHECK(study.kl > 1e-4);
        CHECK(relative_error(lesson.numbers(policy.name + ".policy.total"), study.slopes) < 1e-5);
    }
}

// With a rate of 0 all updates start from the same weights: the last one's samples are the last third.
void hold_minibatch(const Case& c, const std::string& normalised) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    Json config = quick(c.config);
    config.update({{"learning_rate", 0},
                   {"epochs", 2},
                   {"minibatches", 3},
                   {"normalise_advantages", normalised}});
    Lesson lesson(cpu(), env_of(c.env, 140), "ppo", config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::vector<Normaliser> normalisers;
    for (const PolicyForm& policy : policies)
        normalisers.push_back(Normaliser::of(lesson, policy.group));
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(policy.name);
        const Kept kept(lesson, policy);
        const Scholar scholar(policy, lesson.numbers(policy.name + ".policy.weights"),
                              normalisers[p]);
        Returns returns;
        returns.see(policy, kept);
        std::vector<Scholar::Sample> all =
            samples_of(policy, kept, found_by(scholar, policy, kept, returns.scale()));
        if (normalised == "batch") normalise_advantages(all);
        const size_t begin = all.size() * 2 / 3;
        const auto order = shuffled(uint32_t(all.size()), seed, 0, 1, uint32_t(p));
        std::vector<Scholar::Sample> last;
        for (size_t i = begin; i < all.size(); ++i) last.push_back(all[order[i]]);
        if (normalised == "minibatch") normalise_advantages(last);
        CHECK(relative_error(lesson.numbers(policy.name + ".policy.total"),
                             scholar.study(last).slopes) < 1e-5);
    }
}

}

TEST_CASE("a later update's gradient is that of the clipped loss at its weights") {
    hold_later_update(cases()[4]);
}
TEST_CASE("with V-trace advantages follow the policy from epoch to epoch") {
    hold_later_update(cases()[6],
                      {{"advantage", "vtrace"}, {"ratio_bound", 1.3}, {"trace_bound", 1.1}});
}
TEST_CASE("with V-trace the first epoch of each iteration knows nothing of the one before") {
    hold_first_epoch(cpu(), cases()[6], 10);
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    Json small = for_all({{"hidden", {17, 9}}, {"precision", "f32"}, {"gains", {{"choice", 1.0}}}});
    small["emulate"] = true;
    hold_first_epoch(quick_cpu(), {"choices", "ppo", small}, 5);
}
TEST_CASE("a minibatch has its share of the samples, in the shuffle's order") {
    for (const std::string normalised : {"none", "batch", "minibatch"})
        hold_minibatch(cases()[6], normalised);
}
