#include "engine/run/run.h"
#include "tests/env/workbench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <chrono>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Learned {
    explicit Learned(const std::shared_ptr<RunsOn>& on, Json over = Json::object())
        : plugins({build_path("plugins"), build_path("algorithms"), build_path("tests/plugins")},
                  shared_cache()) {
        Json all = {{"env", {{"source", "cartpole"}, {"count", 300}}},
                    {"learner", {{"name", "random_search"}}},
                    {"run", {{"total_steps", 600000}}},
                    {"solved", {{"return", nullptr}}}};
        merge_json(all, over);
        trainee = std::make_unique<Trainee>(load_environment(on, plugins, all, "test"), plugins,
                                            all, "test");
    }

    Environment& env() { return trainee->environment(); }

    Plugins plugins;
    std::unique_ptr<Trainee> trainee;
};

std::map<std::string, std::vector<double>> all_arrays(Environment& env) {
    std::map<std::string, std::vector<double>> all;
    for (const NamedArray& array : env.arrays().all()) all[array.name()] = array.numbers();
    all["tick"] = {double(env.tick())};
    return all;
}

}

TEST_CASE("an evaluation with a clock of its own plays the same wherever training's stands") {
    Learned learned(cpu());
    Environment& env = learned.env();
    const auto found = [&](std::optional<uint64_t> tick) {
        return learned.trainee->evaluate({.episodes = 200, .seed = 5, .tick = tick}).mean_return;
    };
    const double there = found(0), here = found({});
    env.set_tick(env.tick() + 1000);
    const uint64_t now = env.tick();
    CHECK(found(0) == there);
    CHECK(found({}) != here);
    CHECK(env.tick() == now);
}

TEST_CASE("an evaluation finds what stepping on the host finds") {
    Learned learned(cpu());
    Environment& env = learned.env();
    const uint64_t seed = evaluation_seed(1, EvaluationPurpose::asked_for);
    const Evaluation found = learned.trainee->evaluate({.episodes = 300, .seed = seed});

    env.set_seed(seed);
    env.record_restart();
    double returns = 0, lengths = 0;
    std::vector<bool> over(300);
    std::vector<double> mine(300);
    for (int t = 0; t < 500; ++t) {
        learned.trainee->learner().act(true);
        env.step();
        const std::vector<double> reward = numbers(env, "reward"),
                                  terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated");
        for (size_t i = 0; i < over.size(); ++i) {
            if (over[i]) continue;
            mine[i] += reward[i];
            lengths += 1;
            over[i] = terminated[i] != 0 || truncated[i] != 0;
        }
    }
    for (const double one : mine) returns += one;
    CHECK(found.episodes == 300);
    CHECK(found.unfinished == 0);
    CHECK(found.mean_return == doctest::Approx(returns / 300));
    CHECK(found.mean_length == doctest::Approx(lengths / 300));
    CHECK(found.return_interval > 0);
}

TEST_CASE("an evaluation leaves every array, the clock and the seed as they were") {
    for (const char* const name : {"cartpole", "tag_gridworld"}) {
        CAPTURE(name);
        const bool team = name == std::string("tag_gridworld");
        Learned learned(cpu(), {{"env", {{"source", name}, {"count", 96}}},
                                {"learner", {{"name", team ? "noise" : "random_search"}}}});
        Environment& env = learned.env();
        for (int i = 0; i < 30; ++i) env.step_at_random();
        const auto before = all_arrays(env);
        learned.trainee->evaluate({.episodes = 50, .seed = 3});
        CHECK(all_arrays(env) == before);
        // The next steps draw what they would have drawn.
        Learned other(cpu(), {{"env", {{"source", name}, {"count", 96}}},
                              {"learner", {{"name", team ? "noise" : "random_search"}}}});
        for (int i = 0; i < 60; ++i) other.env().step_at_random();
        for (int i = 0; i < 30; ++i) env.step_at_random();
        auto mine = all_arrays(env), its = all_arrays(other.env());
        CHECK(mine == its);
    }
}

// A curriculum opens with the run; what judges a policy poses the whole problem, at any time of training.
TEST_CASE("an evaluation poses the problem of a run's end, and training goes on where it was") {
    for (const char* const rollout : {"auto", "stepwise"}) {
        CAPTURE(rollout);
        Learned learned(
            cpu(),
            {{"env",
              {{"source", "mazes"},
               {"count", 256},
               {"params", {{"mazes", (env_folder / "mazes.npy").string()}, {"easiest", 32}}}}},
             {"learner", {{"name", "ppo"}, {"horizon", 16}, {"rollout", rollout}}}});
        Environment& env = learned.env();
        env.set_progress(EpisodeProgress::over(1000000));
        const auto level_of = [](const Evaluation& found) {
            for (const Evaluation::Log& log : found.log)
                if (log.name == "level") return log.mean;
            return -1.0;
        };
        const uint64_t seed = evaluation_seed(1, EvaluationPurpose::during_training);
        const double level =
            level_of(learned.trainee->evaluate({.episodes = 256, .seed = seed, .logs = true}));
        CHECK(std::abs(level - 2047.5) < 5 * 1182 / 16.0);    // of 4,096, evenly
        env.reset();
        for (const double easy : numbers(env, "state.level")) CHECK(easy < 32);
    }
}

TEST_CASE("more episodes than environments are played in rounds that differ") {
    Learned learned(cpu(), {{"env", {{"count", 40}}}});
    const Evaluation one = learned.trainee->evaluate({.episodes = 40, .seed = 5}),
                     three = learned.trainee->evaluate({.episodes = 120, .seed = 5}),
                     again = learned.trainee->evaluate({.episodes = 120, .seed = 5});
    CHECK(three.episodes == 120);
    CHECK(three.mean_return == again.mean_return);
    CHECK(three.mean_return != one.mean_return);
    CHECK(three.return_interval < one.return_interval);
}

TEST_CASE("no purpose and no seed shares its numbers with another, or with training") {
    std::set<uint64_t> seeds;
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        seeds.insert(seed);
        for (const auto purpose : {EvaluationPurpose::during_training,
                                   EvaluationPurpose::after_training, EvaluationPurpose::asked_for})
            seeds.insert(evaluation_seed(seed, purpose));
    }
    CHECK(seeds.size() == 4000);
}

TEST_CASE("episodes that do not end are cut, counted and told") {
    const Folder folder;
    const auto source = folder.write("endless.cu", R"(#include <nacelle/env.h>
struct Endless {
    struct Params { float reward = 1; };
    struct State { int n; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float n; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.n = rng.below(2); }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng&) {
        return {.reward = p.reward, .terminated = s.n == 1};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.n)}; }
    struct Log { float n; };
    static Log report(const State& s, const Params&) { return {float(s.n)}; }
};
NACELLE_ENV(Endless)
)");
    Learned learned(cpu(), {{"env", {{"source", source.string()}, {"count", 64}}}});
    const Evaluation found = learned.trainee->evaluate({.episodes = 64, .seed = 1, .logs = true});
    REQUIRE(found.log.size() == 1);
    CHECK(found.log[0].mean == 1);    // of those that ended
    CHECK(found.unfinished > 10);
    CHECK(found.unfinished < 54);
    const double ended = 64 - double(found.unfinished);
    CHECK(found.mean_length ==
          doctest::Approx((ended + double(found.unfinished) * Evaluator::most_steps) / 64));
    CHECK(found.mean_return == found.mean_length);
}

TEST_CASE("what the first episodes reported is told, and nothing of those behind them") {
    const Folder folder;
    const auto source = folder.write("dice.cu", R"(#include <nacelle/env.h>
struct Dice {
    struct Params { float reward = 2; };
    struct State { int n, last[2]; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float n; };
    struct Log { float length; int last[2]; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {}; }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng& rng) {
        ++s.n;
        s.last[0] = s.last[1];
        s.last[1] = s.n;
        return {.reward = p.reward, .terminated = rng.below(7) == 0};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.n)}; }
    static Log report(const State& s, const Params&) { return {float(s.n), {s.last[0], s.last[1]}}; }
};
NACELLE_ENV(Dice)
)");
    Learned learned(cpu(), {{"env", {{"source", source.string()}, {"count", 64}}}});
    const Evaluation found = learned.trainee->evaluate({.episodes = 150, .seed = 1, .logs = true});
    REQUIRE(found.log.size() == 3);
    CHECK(found.log[0].name == "length");
    CHECK(found.log[2].name == "last.1");
    CHECK(found.log[0].mean == found.mean_length);
    CHECK(found.log[0].interval == found.length_interval);
    CHECK(found.log[1].mean == doctest::Approx(found.mean_length - 1));
    CHECK(found.log[2].mean == found.mean_length);
    CHECK(found.mean_return == 2 * found.mean_length);
    CHECK(learned.trainee->evaluate({.episodes = 150, .seed = 1}).log.empty());
}

TEST_CASE("what was reported has its own name, also in lists of records") {
    const Folder folder;
    const auto source = folder.write("nested.cu", R"(#include <nacelle/env.h>
struct Nested {
    struct Params { float reward = 1; };
    struct State { int n; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float n; };
    struct Pair { float a; int b[3]; };
    struct Log { Pair pair[2]; float last; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s.n = 0; }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng&) {
        return {.reward = p.reward, .terminated = ++s.n == 3};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.n)}; }
    static Log report(const State&, const Params&) {
        return {{{0, {10, 11, 12}}, {1, {13, 14, 15}}}, 20};
    }
};
NACELLE_ENV(Nested)
)");
    Learned learned(cpu(), {{"env", {{"source", source.string()}, {"count", 8}}}});
    const Evaluation found = learned.trainee->evaluate({.episodes = 8, .seed = 1, .logs = true});
    const std::vector<std::pair<std::string, double>> wanted = {
        {"pair.a.0", 0},  {"pair.a.1", 1},  {"pair.b.0", 10}, {"pair.b.1", 11}, {"pair.b.2", 12},
        {"pair.b.3", 13}, {"pair.b.4", 14}, {"pair.b.5", 15}, {"last", 20}};
    std::vector<std::pair<std::string, double>> told;
    for (const Evaluation::Log& log : found.log) told.emplace_back(log.name, log.mean);
    CHECK(told == wanted);
}

TEST_CASE("the kernel of evaluations compiles for a GPU, for one agent, teams and groups") {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90", shared_cache());
    } catch (const Error&) {
        NACELLE_SKIP("NVRTC is not here");
    }
    for (const char* const name : {"cartpole", "rooms", "tag_gridworld", "pursuit_swarm"}) {
        CAPTURE(name);
        ProgramSource source = stepwise_program(env_folder / (std::string(name) + ".cu"));
        source.instantiation = "#include <nacelle/programs/evaluation.h>\nNACELLE_EVALUATION()\n";
        const Compiled result = compiler->compile(source);
        const auto* const wrong = std::get_if<Diagnostics>(&result);
        CHECK_MESSAGE(!wrong, (wrong ? wrong->text() : std::string()));
        if (!wrong) CHECK(std::get<Binary>(result).warnings == "");
    }
}

TEST_CASE("a thousand episodes of 500 steps take milliseconds on a GPU" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    try {
        on = open("cuda");
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    Learned learned(on, {{"env", {{"count", 4096}}}});
    learned.trainee->evaluate({.episodes = 1000, .seed = 1});
    const auto start = std::chrono::steady_clock::now();
    const Evaluation found = learned.trainee->evaluate({.episodes = 1000, .seed = 2});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    MESSAGE("an evaluation took " << took.count() * 1e3 << " ms, mean length "
                                  << found.mean_length);
    CHECK(took.count() < 0.1);
    CHECK(found.episodes == 1000);
}
