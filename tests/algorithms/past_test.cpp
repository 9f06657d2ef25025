#include "tests/algorithms/cases.h"
#include "tests/algorithms/gradient.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <numeric>

// Games against a pool of a policy's past.

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr size_t together = 64;    // environments that share an opponent

Case duel(const Json& policy, const Json& learner = Json::object(),
          const char* sample = "uniform") {
    Json settings = {{"hidden", {12}},
                     {"gains", {{"choice", 1.0}}},
                     {"opponents", {{"pool", 3}, {"every", 2}, {"sample", sample}}}};
    settings.update(policy);
    Case c{"duel", "ppo", for_all(settings)};
    c.config.update(learner);
    return c;
}
const Json as_gpu_does = {{"emulate", true}};

struct Pool {
    std::vector<double> steps, results, opponent, drawn, rating, weights;
    explicit Pool(Lesson& lesson, const std::string& policy)
        : steps(lesson.numbers(policy + ".past.steps")),
          results(lesson.numbers(policy + ".past.results")),
          opponent(lesson.numbers(policy + ".past.opponent")),
          drawn(lesson.numbers(policy + ".past.drawn")),
          rating(lesson.numbers(policy + ".past.rating")),
          weights(lesson.numbers(policy + ".past.weights")) {}
    double score(size_t member) const {
        const double* const its = &results[3 * member];
        return (its[2] + 0.5 * its[1] + 1) / (its[0] + its[1] + its[2] + 2);
    }
};
// The rating within 100 of the last one at which the results are the likeliest, by their likelihood itself: a game more won
// and one more lost against each member that was met, and no member's games counted as more than 256.
double rated_by(const Pool& pool) {
    const auto likelihood = [&](double rating) {
        double logs = 0;
        for (size_t k = 0; k < pool.steps.size(); ++k) {
            const double* const its = &pool.results[3 * k];
            const double games = its[0] + its[1] + its[2], counted = std::min(games, 256.0),
                         off = (pool.rating[k] - rating) / 400 * std::log(10);
            if (games == 0) continue;
            logs -= counted * (pool.score(k) * std::log1p(std::exp(off)) +
                               (1 - pool.score(k)) * std::log1p(std::exp(-off)));
        }
        return logs;
    };
    if (std::accumulate(pool.results.begin(), pool.results.end(), 0.0) == 0)
        return pool.rating.back();
    double low = pool.rating.back() - 100, high = pool.rating.back() + 100;
    while (high - low > 1e-3) {
        const double third = (high - low) / 3;
        (likelihood(low + third) < likelihood(high - third) ? low : high) +=
            likelihood(low + third) < likelihood(high - third) ? third : -third;
    }
    return low;
}
// Free places first; then any but that of the first member.
size_t place_by(uint64_t seed, uint64_t iteration, size_t members, size_t every) {
    if (iteration / every < members) return iteration / every;
    Rng rng(seed, Domain::opponents, iteration, 0xffffffff, 0);
    return 1 + size_t(rng.below(int(members) - 1));
}
// Who plays the episodes that begin in this iteration, by the pool as it is then.
std::vector<double> drawn_by(const Pool& pool, const std::string& sample, uint64_t seed,
                             uint64_t iteration, size_t groups) {
    std::vector<double> drawn;
    for (size_t group = 0; group < groups; ++group) {
        Rng rng(seed, Domain::opponents, iteration, uint32_t(group), 0);
        std::vector<double> chance;
        const bool evenly = rng.uniform() < 0.125f || sample == "uniform";
        for (size_t k = 0; k < pool.steps.size(); ++k) {
            const bool latest =
                pool.steps[k] == *std::max_element(pool.steps.begin(), pool.steps.end());
            chance.push_back(pool.steps[k] == 0   ? 0
                             : evenly             ? 1
                             : sample == "latest" ? latest
                                                  : std::pow(1 - pool.score(k), 2));
        }
        const double all = std::accumulate(chance.begin(), chance.end(), 0.0);
        double at = sample == "latest" && !evenly ? 0 : double(rng.uniform()) * all;
        size_t member = 0;
        while (chance[member] == 0 || at >= chance[member]) at -= chance[member++];
        drawn.push_back(double(member));
    }
    return drawn;
}

void hold_to_reference(const std::shared_ptr<RunsOn>& on, const Json& policy) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    constexpr size_t envs = 200, steps = 16, groups = (envs + together - 1) / together;
    for (const char* const sample : {"latest", "uniform", "hard"}) {
        CAPTURE(std::string(sample));
        const Case c = duel(policy, {{"horizon", steps}}, sample);
        Lesson lesson(on, env_of(c.env, envs), c.learner, c.config, seed);
        std::vector<std::array<double, 2>> running(envs);
        std::vector<double> opponent(envs, 0.0);
        for (uint64_t iteration = 0; iteration < 12; ++iteration) {
            const std::vector<double> weights = lesson.numbers("agent.policy.weights");
            Pool must(lesson, "agent");
            const size_t member = place_by(seed, iteration, 3, 2);
            must.rating.back() = rated_by(must);
            if (iteration % 2 == 0) {
                for (size_t i = 0; i < must.results.size(); ++i)
                    must.results[i] = i / 3 == member ? 0 : std::floor(must.results[i] / 2);
                must.rating[member] = must.rating.back();
                must.steps[member] = double(iteration * steps * envs + 1);
                std::copy(weights.begin(), weights.end(),
                          must.weights.begin() + std::ptrdiff_t(member * weights.size()));
            }
            must.drawn = drawn_by(must, sample, seed, iteration, groups);
            lesson.iterate();
            const auto reward = lesson.numbers("agent.kept.reward"),
                       flag = lesson.numbers("agent.kept.flag");
            for (size_t t = 0; t < steps; ++t)
                for (size_t env = 0; env < envs; ++env) {
                    auto& both = running[env];
                    for (size_t id = 0; id < 2; ++id)
                        both[id] =
                            double(float(both[id]) + float(reward[(t * envs + env) * 2 + id]));
                    if (!(int(flag[(t * envs + env) * 2]) & 3)) continue;
                    const double own = both[env % 2], other = both[1 - env % 2];
                    const size_t result = own > other ? 2 : own < other ? 0 : 1;
                    must.results[3 * size_t(opponent[env]) + result] += 1;
                    opponent[env] = must.drawn[env / together];
                    both = {};
                }
            const Pool is(lesson, "agent");
            CHECK(is.steps == must.steps);
            CHECK(is.weights == must.weights);
            CHECK(is.drawn == must.drawn);
            CHECK(is.opponent == opponent);
            CHECK(is.results == must.results);
            for (size_t k = 0; k < 4; ++k) CHECK(std::abs(is.rating[k] - must.rating[k]) < 0.01);
        }
    }
}

}

TEST_CASE("what is learnt in games against the past comes of the rows that learn alone") {
    // relay: two policies, of which one learns in every other group of environments.
    Case roles = cases()[6];
    roles.config["policies"]["default"] = {{"opponents", {{"pool", 2}, {"every", 1}}}};
    hold_to_doubles(cpu(), duel({{"trunk", "separate"}}), as_f32, 150);
    hold_to_doubles(cpu(), roles, as_f32, 200);
}
TEST_CASE("so it is where a GPU's warps take teams through fused networks, emulated") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_doubles(quick_cpu(), duel({{"precision", "f32"}}, as_gpu_does), as_f32_cut, 70);
}
TEST_CASE("so it is where blocks bring wider networks' weights, emulated" * test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_doubles(
        quick_cpu(),
        duel({{"hidden", {70, 24}}, {"precision", "f32"}, {"execution", "streamed"}}, as_gpu_does),
        as_f32_cut, 70);
}
TEST_CASE("opponents are drawn, and results counted, as a plain reference does") {
    hold_to_reference(cpu(), Json::object());
}
TEST_CASE(
    "a run that goes on with members kept more rarely or more often fills free places first") {
    const auto made = [](uint64_t every) {
        Case c = duel(Json::object(), {{"horizon", 4}});
        c.config["policies"]["default"]["opponents"] = {{"pool", 6}, {"every", every}};
        return std::make_unique<Lesson>(cpu(), env_of(c.env, 64), c.learner, c.config);
    };
    const auto gone_on = [&](Lesson& before, uint64_t every) {
        auto after = made(every);
        for (NamedArray& one : after->env().arrays().all())
            if (one.role() == Role::plugin && one.kept()) {
                const auto its = before.env().arrays()[one.name()].raw();
                one.write_bytes(its.data(), its.size() / dtype_size(one.dtype()));
            }
        return after;
    };
    const auto first = made(1);
    first->iterate(3);
    const auto rarer =
        gone_on(*first, 4);    // its iterations are those from 3 on, of which 4 keeps a member
    rarer->iterate(2);
    const auto oftener = gone_on(*rarer, 1);
    oftener->iterate(1);
    std::vector<double> wanted;
    for (const double iteration : {0.0, 1.0, 2.0, 4.0, 5.0})
        wanted.push_back(iteration * 4 * 64 + 1);
    wanted.push_back(0);
    CHECK(Pool(*oftener, "agent").steps == wanted);
}
TEST_CASE("a GPU plays the past as the references do, by fused and by wide networks" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    Case roles = cases()[6];
    roles.config["policies"]["default"] = {{"opponents", {{"pool", 2}, {"every", 1}}},
                                           {"precision", "bf16"}};
    hold_to_doubles(on, roles, as_bf16_of_few, 400);
    for (const Json& policy :
         {Json{{"precision", "f32"}}, Json{{"precision", "bf16"}, {"trunk", "separate"}},
          Json{{"hidden", {256, 256}}, {"precision", "bf16"}, {"trunk", "separate"}},
          Json{{"hidden", {70, 24}}, {"precision", "bf16"}, {"execution", "streamed"}}}) {
        CAPTURE(policy.dump());
        hold_to_doubles(on, duel(policy),
                        policy["precision"] == "f32" ? as_f32_cut : as_bf16_of_few, 400);
        hold_to_reference(on, policy);
    }
}
TEST_CASE("who learns from games against its past rises above it, and no further than the first "
          "one shows" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "games against the past go through the same code before doubles: the plain build has it");
#endif
    Case c = duel(Json::object(), {{"learning_rate", 0.003}, {"horizon", 32}, {"gamma", 0.9}});
    c.config["policies"]["default"]["opponents"] = {{"pool", 8}, {"every", 2}};
    c.config["policies"]["default"]["gains"] = {{"choice", 0.01}};
    Lesson lesson(cpu(), env_of(c.env, 512), c.learner, c.config, fresh_seed());
    CHECK(Pool(lesson, "agent").rating.back() == 1000);
    lesson.iterate(48);
    const Pool pool(lesson, "agent");
    CHECK(pool.rating.back() > 1050);
    CHECK(pool.rating[0] == 1000);
    CHECK(pool.steps[0] == 1);
    const double games = pool.results[0] + pool.results[1] + pool.results[2],
                 expected = 1 / (1 + std::pow(10, (1000 - pool.rating.back()) / 400));
    CHECK(games > 20);
    CHECK(std::abs(pool.score(0) - expected) < 0.15);
}
