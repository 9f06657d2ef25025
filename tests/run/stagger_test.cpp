#include "engine/run/stagger.h"

#include "engine/run/run.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The clocks at which a run's first episodes begin, and its resolved run.stagger.
struct Begun {
    std::vector<double> clocks;
    Json stagger;
    bool spread() const { return std::ranges::count(clocks, 0) < std::ssize(clocks) / 2; }
};
Begun begun(const Json& configuration) {
    Plugins plugins({build_path("plugins"), build_path("algorithms")}, cpu()->cache);
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    return {numbers(run.environment(), "episode.start"), run.configuration()["run"]["stagger"]};
}
Json search_of(const std::string& env, int steps, const Json& run = Json::object()) {
    return {{"env", {{"source", source_path("env_sources/" + env + ".cu")}, {"count", 64}}},
            {"learner", {{"name", "random_search"}, {"episodes", 4}, {"steps", steps}}},
            {"run", run}};
}

}

TEST_CASE("staggered episodes end one after the other, and later ones have their whole length") {
    constexpr uint32_t envs = 50, limit = 200;    // a Pendulum ends at its limit alone
    Environment env(cpu(), recommended("pendulum", envs));
    stagger_first_episodes(env, "run.json");
    std::vector<int> ended(2 * limit + 1);
    for (uint32_t t = 1; t <= 2 * limit; ++t) {
        env.step_at_random();
        for (const double over : numbers(env, "truncated")) ended[t] += over != 0;
    }
    for (uint32_t i = 0; i < envs; ++i) {
        const uint32_t first = limit - i * limit / envs;
        CAPTURE(i);
        CHECK(ended[first] == 1);
        CHECK(ended[first + limit] == 1);
    }
    CHECK(std::accumulate(ended.begin(), ended.end(), 0) == 2 * envs);
    // Lengths are those of the steps that were taken.
    const Totals totals = env.take_totals();
    CHECK(totals.episodes == 2 * envs);
    CHECK(totals.mean_length == doctest::Approx((limit + (limit + limit / envs) / 2.0) / 2));
}

TEST_CASE("an environment without a time limit cannot be staggered") {
    Environment env(cpu(), settings_of({{"source", "connect_four"}, {"count", 2}}));
    CHECK(complaint([&] { stagger_first_episodes(env, "run.json"); }) ==
          "run.json: run.stagger: ConnectFour has no time_limit, so that its episodes do not end "
          "together (false)");
}

TEST_CASE("a run of iterations shorter than an episode begins at spread clocks") {
    const Begun part = begun(search_of("pendulum", 199));
    CHECK(part.spread());
    CHECK(part.stagger == true);
    for (const Begun& whole : {begun(search_of("pendulum", 200)),
                               begun(search_of("pendulum", 199, {{"stagger", false}}))}) {
        CHECK(std::ranges::count(whole.clocks, 0) == std::ssize(whole.clocks));
        CHECK(whole.stagger == false);
    }
    CHECK(begun(search_of("pendulum", 200, {{"stagger", true}})).spread());
    const Environment endless(cpu(), settings_of({{"source", "connect_four"}, {"count", 2}}));
    CHECK_FALSE(sees_one_phase(endless, 2));
}

TEST_CASE("each iteration of pendulum's settings sees every part of an episode") {
    Plugins plugins({build_path("plugins"), build_path("algorithms")}, cpu()->cache);
    Json configuration = load_json(source_path("env_sources/pendulum.json"));
    configuration["env"]["source"] = source_path("env_sources/pendulum.cu");
    configuration["solved"] = Json::object();
    configuration["run"] = {{"total_steps", 7 * 64 * 256}, {"sinks", Json::array()}};
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    Environment& env = run.environment();
    do {
        run.iterate();
        std::vector<int> tenths(10);
        const std::vector<double> starts = numbers(env, "episode.start"),
                                  lengths = numbers(env, "episode.length");
        for (size_t i = 0; i < starts.size(); ++i)
            ++tenths[std::min<size_t>(9, size_t(starts[i] + lengths[i]) / 20)];
        CHECK(std::ranges::min(tenths) >= 20);    // of 256 environments
    } while (!run.over());
}
