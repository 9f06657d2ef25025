#include "engine/run/evaluation.h"
#include "tests/algorithms/acts_for_some.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// What a learner does when it is asked to act: for evaluations, and for applications.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A learner after some iterations, and its policy's outputs for what its environments show now.
struct Play {
    Case c;
    Lesson lesson;
    PolicyForm policy;
    std::vector<std::vector<double>> outputs;
    std::vector<uint8_t> mask;

    Play(const Case& of, uint64_t seed)
        : c(of),
          lesson(cpu(), env_of(c.env, 2000), c.learner, quick(c.config), seed),
          policy(policies_of(lesson).front()) {
        lesson.iterate(2);
        const Scholar scholar(policy, lesson.numbers(policy.name + ".policy.weights"),
                              Normaliser::of(lesson, policy.group));
        const std::vector<double> obs = numbers(lesson.env(), "obs");
        const size_t width = policy.seen;
        for (size_t at = 0; at < obs.size(); at += width) {
            const auto first = obs.begin() + std::ptrdiff_t(at);
            outputs.push_back(scholar.outputs({first, first + std::ptrdiff_t(width)}));
        }
        mask = lesson.env().arrays()["mask"].host<uint8_t>();
    }
    static Json quick(Json config) {
        config.update({{"horizon", 8}, {"epochs", 1}, {"learning_rate", 0.01}});
        return config;
    }
    // The actions of all rows, part by part.
    std::vector<std::vector<double>> act(bool greedy) {
        lesson.learner().act(greedy);
        std::vector<std::vector<double>> parts;
        for (const Field& field : lesson.env().schema().fields()) {
            if (field.role != Role::action) continue;
            const std::vector<double> all = numbers(lesson.env(), field.name);
            for (size_t i = 0; i < field.count; ++i) {
                const auto first = all.begin() + std::ptrdiff_t(i * outputs.size());
                parts.emplace_back(first, first + std::ptrdiff_t(outputs.size()));
            }
        }
        return parts;
    }
    // fn(part, its first output, its first choice of the mask)
    template <class Fn> void each_part(Fn&& fn) const {
        size_t first = 0, base = 0;
        for (size_t p = 0; p < policy.head.parts.size(); ++p) {
            const Part& part = policy.head.parts[p];
            fn(p, part, first, base);
            first += part.choices ? size_t(part.choices) : 1;
            base += size_t(part.choices);
        }
    }
    // Probabilities of a discrete part in a row.
    std::vector<double> probabilities(size_t row, const Part& part, size_t first,
                                      size_t base) const {
        std::vector<double> p(size_t(part.choices));
        double sum = 0;
        for (size_t i = 0; i < p.size(); ++i)
            sum += p[i] = mask[row * policy.head.choices() + base + i]
                              ? std::exp(outputs[row][first + i])
                              : 0;
        for (double& x : p) x /= sum;
        return p;
    }
};

void hold_greedy(const Case& c) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    Play play(c, seed);
    const auto actions = play.act(true);
    REQUIRE(actions.size() == play.policy.head.parts.size());
    size_t wrong = 0;
    play.each_part([&](size_t p, const Part& part, size_t first, size_t base) {
        for (size_t row = 0; row < play.outputs.size(); ++row) {
            if (part.choices) {
                const auto probabilities = play.probabilities(row, part, first, base);
                const double best = *std::max_element(probabilities.begin(), probabilities.end());
                wrong += probabilities[size_t(actions[p][row])] < best * (1 - 1e-4);
                continue;
            }
            const double mean = play.outputs[row][first],
                         unit = play.policy.head.squashed ? std::tanh(mean) : within(mean, -1, 1);
            const double must = part.low + (part.high - part.low) * (unit + 1) / 2;
            wrong += std::abs(actions[p][row] - must) > 1e-4;
        }
    });
    CHECK(wrong == 0);
}
void hold_sampled(const Case& c) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    Play play(c, seed);
    const auto actions = play.act(false);
    play.each_part([&](size_t p, const Part& part, size_t first, size_t base) {
        CAPTURE(p);
        const auto [low, high] = std::minmax_element(actions[p].begin(), actions[p].end());
        if (part.choices == 0) {
            CHECK(*low >= part.low);
            CHECK(*high <= part.high);
            CHECK(*low < *high);
            return;
        }
        for (size_t i = 0; i < size_t(part.choices); ++i) {
            double expected = 0, variance = 0, came = 0;
            for (size_t row = 0; row < play.outputs.size(); ++row) {
                const double probability = play.probabilities(row, part, first, base)[i];
                expected += probability;
                variance += probability * (1 - probability);
                came += actions[p][row] == double(i);
                if (probability == 0) CHECK(actions[p][row] != double(i));
            }
            CHECK(std::abs(came - expected) <= 5.5 * std::sqrt(variance) + 1e-6);
        }
    });
}

void hold_some(const std::shared_ptr<RunsOn>& on, const Case& c, uint32_t envs) {
    CAPTURE(c.env);
    Lesson lesson(on, env_of(c.env, envs), c.learner, Play::quick(c.config), fresh_seed());
    lesson.iterate(1);
    hold_for_some(lesson);
}

// Choices alone, and choices among numbers.
std::vector<Case> acting() { return few_if_sanitized<Case>({cases()[0], cases()[4]}, {1}); }

}

TEST_CASE("asked for the best, a learner takes the likeliest choices and the means") {
    for (const Case& c : acting()) hold_greedy(c);
}
TEST_CASE("asked for the first environments, a learner acts for no others") {
    // One agent; two groups with a network and a random policy; layers that are wide for a CPU.
    Case random = cases()[7], wide = cases()[0];
    random.config["policies"]["setter"] = {{"train", "random"}};
    wide.config["policies"]["default"]["hidden"] = {256, 64};
    for (const Case& c : {cases()[0], cases()[7], random, wide}) hold_some(cpu(), c, 300);
}
TEST_CASE("asked for the first environments, a learner acts for no others, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this: a thread of the host for each of a GPU's");
#endif
    const Json less = {{"emulate", true}};
    for (const Case& c :
         {with(cases()[0], narrow, less), with(streamed(0, "bf16"), Json::object(), less)})
        hold_some(quick_cpu(), c, 40);
}
TEST_CASE("asked to draw, a learner draws within masks and bounds, as often as it should") {
    for (const Case& c : acting()) hold_sampled(c);
}

namespace {

// What greedy episodes and drawn ones come to, by a learner that has taken two iterations.
std::vector<double> evaluated(const std::shared_ptr<RunsOn>& on, Json config, uint32_t envs,
                              bool stepwise, uint64_t seed) {
    config["rollout"] = stepwise ? "stepwise" : "auto";
    Lesson lesson(on, env_of("cartpole", envs), "ppo", config, seed);
    REQUIRE((lesson.learner().most_steps() > 0) == !stepwise);
    lesson.iterate(2);
    Evaluator evaluator(lesson.env(), lesson.learner());
    std::vector<double> found;
    for (const bool greedy : {true, false}) {
        const Evaluation one =
            evaluator.play({.episodes = envs + envs / 2, .seed = seed + 1, .greedy = greedy});
        CHECK(one.unfinished == 0);
        for (const double value : {one.mean_return, one.return_interval, one.mean_length})
            found.push_back(value);
    }
    // Learning goes on as if nothing had been.
    lesson.iterate();
    for (const double weight : lesson.numbers("default.policy.weights")) found.push_back(weight);
    return found;
}

void hold_plays_to_steps(const std::shared_ptr<RunsOn>& on, const Json& policy, const Json& learner,
                         uint32_t envs) {
    Json config = {{"horizon", 8}, {"minibatches", 1}, {"policies", {{"default", policy}}}};
    config.update(learner);
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const std::vector<double> together = evaluated(on, config, envs, false, seed),
                              apart = evaluated(on, config, envs, true, seed);
    REQUIRE(together.size() == apart.size());
    for (size_t i = 0; i < apart.size(); ++i) {
        CAPTURE(i);
        CHECK(together[i] == apart[i]);
    }
}

}

TEST_CASE("an evaluation of many steps a launch finds what single steps find") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_plays_to_steps(quick_cpu(), {{"hidden", {16}}, {"precision", "bf16"}}, {{"emulate", true}},
                        20);
}

TEST_CASE("an evaluation of many steps a launch finds on a GPU what single steps find" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    // Few environments, of which a warp has eight, and more.
    for (const uint32_t envs : {1000u, 5000u})
        hold_plays_to_steps(on, {{"hidden", {64, 64}}, {"precision", "bf16"}}, Json::object(),
                            envs);
}
