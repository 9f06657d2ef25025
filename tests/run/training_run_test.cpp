#include "engine/run/run.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Plugins built_plugins() {
    return Plugins({build_path("plugins"), build_path("algorithms")}, cpu()->cache);
}

Json cartpole(Json over = Json::object()) {
    Json all = {{"seed", 1},
                {"env", {{"source", source_path("env_sources/cartpole.cu")}, {"count", 512}}},
                {"learner", {{"name", "random_search"}}},
                {"run", {{"total_steps", 20000000}}},
                {"solved", {{"return", 475}, {"episodes", 100}}}};
    merge_json(all, over);
    return all;
}

double trained_return(uint64_t seed, int threads) {
    Plugins plugins = built_plugins();
    const auto on =
        open_backend({.backend = "cpu", .threads = threads, .cache = {}, .env_folders = {}});
    const Json configuration = cartpole({{"seed", seed}});
    TrainingRun run(load_environment(on, plugins, configuration, "test"), plugins, configuration,
                    "test");
    while (run.iterate()) {}
    return run.evaluate(200).mean_return;
}

std::string refused_run(const Json& over) {
    Plugins plugins = built_plugins();
    const Json configuration = cartpole(over);
    return complaint([&] {
        TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins,
                        configuration, "test");
    });
}

}

TEST_CASE("random search balances the pole for three seeds") {
    for (const uint64_t seed : {1, 2, 3}) {
        CAPTURE(seed);
        CHECK(trained_return(seed, 0) >= 475);
    }
}

TEST_CASE("a run is the same on one thread and on three") {
    CHECK(trained_return(7, 1) == trained_return(7, 3));
}

TEST_CASE("a run ends where its steps are taken, and not before") {
    Plugins plugins = built_plugins();
    const Json configuration =
        cartpole({{"run", {{"total_steps", 600000}}}, {"solved", {{"return", 1e9}}}});
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    while (run.iterate()) {}
    CHECK(run.progress().steps == 768000);    // whole iterations of 512 x 500
    CHECK(!run.solved());
    CHECK(!run.iterate());
}

TEST_CASE("a setting that nobody knows is refused with its path") {
    CHECK(refused_run({{"run", {{"total_step", 1}}}}) ==
          "test: run.total_step: run has no 'total_step' (did you mean 'total_steps'?)");
    CHECK(refused_run({{"learner", {{"elit", 0.5}}}})
              .find("random_search: elit: there is no such setting") == 0);
    CHECK(refused_run({{"learner", {{"name", "random_serch"}}}})
              .find("did you mean 'random_search'?") != std::string::npos);
    CHECK(refused_run({{"sead", 1}}).find("sead") != std::string::npos);
    CHECK(refused_run({{"learner", {{"population", 512}, {"episodes", 2}}}})
              .find("needs 1024 environments; env.count is 512") != std::string::npos);
}

TEST_CASE("a sink is a name or an object with the sink's own settings") {
    const Folder folder;
    const auto out = folder.path() / "run";
    const Json sinks = {"jsonl", {{"name", "csv"}, {"every", 1000000}, {"file", "slow.csv"}}};
    Plugins plugins = built_plugins();
    const Json configuration = cartpole({{"run", {{"total_steps", 600000}, {"sinks", sinks}}}});
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test", {.out = out});
    CHECK(run.configuration()["run"]["sinks"] == sinks);
    CHECK(std::filesystem::exists(out / "metrics.jsonl"));
    CHECK(std::filesystem::exists(out / "slow.csv"));
}

TEST_CASE("a setting that a sink does not know is refused, and no directory is left behind") {
    const Folder folder;
    const auto out = folder.path() / "run";
    Plugins plugins = built_plugins();
    const auto refused = [&](const Json& sinks) {
        const Json configuration = cartpole({{"run", {{"sinks", sinks}}}});
        return complaint([&] {
            TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins,
                            configuration, "test", {.out = out});
        });
    };
    CHECK(refused({"jsonl", {{"name", "csv"}, {"evry", 3}}}) ==
          "csv: evry: there is no such setting (did you mean 'every'?)");
    CHECK(refused({"jsonl", 3}) ==
          "test: run.sinks[1]: expected a name or an object with a name, found 3");
    CHECK(refused(Json::array({{{"every", 3}}})) == "test: run.sinks[0].name: is missing (csv)");
    CHECK(refused(Json::array({{{"name", "csv"}, {"out", "x"}}})) ==
          "test: run.sinks[0].out: is the run's directory, which every sink is told");
    CHECK(refused("csv") == "test: run.sinks: expected a list of names and objects, found \"csv\"");
    CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a run of a team tells the returns of each policy") {
    Plugins plugins({build_path("tests/plugins"), build_path("tests")}, cpu()->cache);
    const Json configuration = {
        {"env", {{"source", source_path("env_sources/tag_gridworld.cu")}, {"count", 64}}},
        {"learner", {{"name", "noise"}}},
        {"run", {{"total_steps", 64 * 240}}}};
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    while (run.iterate()) {
        std::map<std::string, double> metrics(run.progress().metrics.begin(),
                                              run.progress().metrics.end());
        REQUIRE(metrics.contains("policy.tagger.return"));
        REQUIRE(metrics.contains("policy.runner.return"));
        CHECK(metrics["policy.tagger.return"] == metrics["episode.return"]);
        CHECK(metrics["policy.tagger.return"] != metrics["policy.runner.return"]);
    }
    // Nobody moves: nobody is caught in 100 steps, and the runner is paid what the taggers pay.
    const Evaluation found = run.evaluate(20);
    CHECK(found.episodes == 20);
    CHECK(found.mean_length == 100);
    REQUIRE(found.policies.size() == 2);
    CHECK(found.policies[0].name == "tagger");
    CHECK(found.policies[0].mean_return == doctest::Approx(-1));
    CHECK(found.policies[1].name == "runner");
    CHECK(found.policies[1].mean_return == doctest::Approx(1));
    CHECK(found.mean_return == found.policies[0].mean_return);
}

TEST_CASE("random search refuses a team with what there is instead") {
    const std::string words =
        refused_run({{"env", {{"source", source_path("env_sources/tag_gridworld.cu")}}}});
    CHECK_MESSAGE(contains(words, "random_search: TagGridworld is a team of 5 agents, and this "
                                  "learner trains one agent alone; a team needs a learner of its "
                                  "own"),
                  words);
}
