#include "tests/algorithms/network_cases.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/thorough.h"

#include <map>

// What a learner carries from iteration to iteration, against one pass over all that was ever seen.

using namespace nacelle;
using namespace nacelle::test;

namespace {

double metric(Lesson& lesson, const std::string& name) {
    const MetricValues all = lesson.learner().metrics();
    for (const auto& [key, value] : all)
        if (key == name) return value;
    return std::nan("");
}

// All observations that a group's agents have acted on.
struct Sights {
    // Of kept pairs, the first step's numbers are added up before they are rounded: each may be off by half a unit of its
    // eight bits.
    std::vector<std::vector<double>> seen, off;

    void see(const Kept& kept, const Normaliser& then) {
        for (size_t t = 0; t < kept.steps; ++t)
            for (size_t row = 0; row < kept.rows; ++row) {
                if (!kept.acted_at(t, row)) continue;
                seen.push_back(obs_at(kept, t, row));
                off.emplace_back(seen.back().size(), 0.0);
                for (size_t k = 0; kept.in_pairs && t == 0 && k < off.back().size(); ++k)
                    off.back()[k] = std::abs(seen.back()[k] - then.mean[k]) * 0x1p-8;
            }
    }
    // Number by number.
    void hold(const Normaliser& is) const {
        const double count = double(seen.size()), digits = 4e-6;    // of floats
        for (size_t k = 0; k < seen.front().size(); ++k) {
            CAPTURE(k);
            double mean = 0, variance = 0, mean_off = 0, variance_off = 0;
            for (const auto& obs : seen) mean += obs[k] / count;
            for (size_t i = 0; i < seen.size(); ++i) {
                const double from_mean = std::abs(seen[i][k] - mean), by = off[i][k];
                variance += from_mean * from_mean / count;
                mean_off += by / count;
                variance_off += by * (2 * from_mean + by) / count;
            }
            CHECK(std::abs(is.mean[k] - mean) <=
                  mean_off + digits * (std::abs(mean) + std::sqrt(variance)));
            CHECK(std::abs(1 / (is.scale[k] * is.scale[k]) - variance) <=
                  variance_off + mean_off * mean_off + digits * variance);
        }
    }
};

// Of as many steps as there are, from the values that the rollout kept.
void hold_advantages(Lesson& lesson, const PolicyForm& policy, const Kept& kept,
                     const Normaliser& then, double scale, double rounding) {
    const Scholar scholar(policy, lesson.numbers(policy.name + ".policy.weights"), then);
    const Found must = found_by(scholar, policy, kept, scale);
    for (const auto& [is, wanted] :
         {std::pair(&kept.advantage, &must.advantage), std::pair(&kept.target, &must.target)})
        CHECK(relative_error(own(policy, kept, *is), own(policy, kept, *wanted)) < rounding);
}

struct Size {
    uint32_t envs = 150, horizon = 11;
    int iterations = 5;
    double rounding = 1e-5;    // of values
    Json policies = Json();    // env.policies, if not the environment's own
};
void hold(const std::shared_ptr<RunsOn>& on, const Case& c, const Size& size) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    Json config = c.config;
    config.update(
        {{"horizon", size.horizon}, {"minibatches", 2}, {"gamma", 0.9}, {"learning_rate", 0}});
    if (c.learner == "ppo") config["epochs"] = 1;
    Json env = env_of(c.env, size.envs);
    if (!c.constants.empty()) env["constants"] = c.constants;
    if (!size.policies.is_null()) env["policies"] = size.policies;
    Lesson lesson(on, env, c.learner, config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::map<std::string, Sights> sights;
    std::vector<Returns> returns(policies.size());
    for (int iteration = 0; iteration < size.iterations; ++iteration) {
        CAPTURE(iteration);
        std::vector<Normaliser> then;
        for (const PolicyForm& policy : policies)
            then.push_back(Normaliser::of(lesson, policy.group));
        lesson.iterate();
        std::map<std::string, bool> met;
        for (size_t p = 0; p < policies.size(); ++p) {
            const PolicyForm& policy = policies[p];
            const Kept kept(lesson, policy, then[p]);
            returns[p].see(policy, kept);
            const std::string prefix = policies.size() > 1 ? policy.name + "." : "";
            CHECK(metric(lesson, prefix + "reward_scale") ==
                  doctest::Approx(returns[p].scale()).epsilon(1e-5));
            hold_advantages(lesson, policy, kept, then[p], returns[p].scale(), size.rounding);
            if (met[policy.group]) continue;
            met[policy.group] = true;
            sights[policy.group].see(kept, then[p]);
            sights[policy.group].hold(Normaliser::of(lesson, policy.group));
        }
    }
}

}

TEST_CASE("observations and rewards are scaled by all that was seen, over iterations") {
    hold(cpu(), cases()[0], {});
    hold(cpu(), cases()[6], {});
}
TEST_CASE("observations, rewards and advantages by the blocks of a GPU, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    Case turns = cases()[6],
         wide{"long", "a2c",
              for_all({{"hidden", {3}}})};    // more numbers than a block has threads
    for (Case* const c : {&turns, &wide}) {
        for (auto& [name, policy] : c->config["policies"].items())
            policy.update({{"execution", "streamed"}, {"precision", "f32"}});
        c->config["emulate"] = true;
    }
    hold(quick_cpu(), turns, {.envs = 37, .horizon = 37, .iterations = 2});
    hold(quick_cpu(), wide, {.envs = 7, .horizon = 19, .iterations = 2});
}
namespace {

// Two policies see alike. One has 142 rows: more than its warps take at once, the last one's not whole.
void hold_rows_of_many(const char* kept) {
    Case c = much_seen()[0];    // values of a network of their own
    c.config.update({{"emulate", true}, {"kept_observations", kept}});
    hold(quick_cpu(), c,
         {.envs = 71,
          .horizon = 6,
          .iterations = 2,
          .rounding = 0.1,
          .policies = {{"many", {0, 2}}, {"few", 1}}});
}

}

TEST_CASE("rows of many numbers are added up where choices are made for them, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_rows_of_many("bf16");
}
TEST_CASE("so they are where they are kept in f32, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_rows_of_many("f32");
}
TEST_CASE("rows of many numbers are added up where choices are made for them on a GPU" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const size_t i : {0u, 1u, 2u})
        hold(on, much_seen()[i],
             {.envs = 3000,
              .iterations = 3,
              .rounding = 0.1,
              .policies = i == 1 ? Json{{"many", {0, 2}}, {"few", 1}} : Json()});
}
TEST_CASE("without normalisation nothing is moved, and rewards are multiplied as asked") {
    Lesson lesson(cpu(), env_of("choices", 150), "ppo",
                  {{"horizon", 11},
                   {"normalise_observations", false},
                   {"normalise_returns", false},
                   {"reward_scale", 0.125}});
    lesson.iterate(3);
    const PolicyForm policy = policies_of(lesson).front();
    const Normaliser n = Normaliser::of(lesson, policy.group);
    CHECK(n.mean == std::vector<double>(n.mean.size(), 0.0));
    CHECK(n.scale == std::vector<double>(n.scale.size(), 1.0));
    CHECK(metric(lesson, "reward_scale") == 0.125);
}
TEST_CASE("a scaled reward is held within its bound") {
    Lesson lesson(cpu(), env_of("choices", 150), "ppo",
                  {{"horizon", 11},
                   {"learning_rate", 0},
                   {"normalise_returns", false},
                   {"reward_bound", 0.5}});
    const PolicyForm policy = policies_of(lesson).front();
    const Normaliser start = Normaliser::of(lesson, policy.group);
    lesson.iterate();
    const Kept kept(lesson, policy);
    const Scholar scholar(policy, lesson.numbers(policy.name + ".policy.weights"), start);
    const Found bounded = found_by(scholar, policy, kept, 1);
    CHECK(relative_error(kept.advantage, bounded.advantage) < 1e-5);
    CHECK(*std::max_element(kept.reward.begin(), kept.reward.end()) > 1);
}
