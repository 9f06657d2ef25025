// Runs as an application in C++ has them: resumed, loaded, saved, stopped, and their policies.
#include "engine/nacelle.hpp"
#include "engine/run/directory.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Engine host_engine() {
    return Engine({.backend = "cpu",
                   .threads = 2,
                   .cache = cache_place(),
                   .env_folders = {source_path("env_sources")},
                   .plugin_folders = {build_path("plugins"), build_path("algorithms")}});
}
// Iterations of 12,800 steps.
Json quick_search(uint64_t total_steps) {
    return {{"learner", {{"name", "random_search"}, {"steps", 50}}},
            {"run",
             {{"total_steps", total_steps},
              {"report_every", 1},
              {"checkpoint_every", 0},
              {"evaluate_every", 0}}}};
}
Env quick_env(Engine& engine) { return engine.load("cartpole", {{"count", 256}}); }

std::vector<float> best_actions(const Policy& policy, const std::vector<float>& seen) {
    std::vector<float> actions(seen.size() / policy.inputs());
    policy.act(seen, actions);
    return actions;
}
std::string newest_bytes(const std::filesystem::path& run) {
    const Checkpoints checkpoints(run / "checkpoints");
    std::filesystem::path newest = checkpoints.list().front().path;
    return read_file(newest) + read_file(newest.replace_extension(".safetensors"));
}

}

TEST_CASE(
    "a run that was stopped and resumed by an application ends with the bytes of a whole one") {
    const Folder folder;
    const auto whole = folder.path() / "whole", parts = folder.path() / "parts";
    Engine engine = host_engine();
    {
        Env env = quick_env(engine);
        Run run(env, quick_search(128000), whole);
        while (run.iterate()) {}
    }
    uint64_t stopped = 0;
    {
        Env env = quick_env(engine);
        Run run(env, quick_search(128000), parts);
        for (int i = 0; i < 4; ++i) CHECK(run.iterate());
        run.stop();
        stopped = run.steps();
        CHECK(!run.iterate());
        CHECK(run.steps() == stopped);
        CHECK(complaint([&] { Run::resume(engine, parts); }) ==
              parts.string() + ": another process is training in it, or another run of this one");
    }
    Run run = Run::resume(engine, parts);
    CHECK(run.steps() == stopped);
    CHECK(run.env().name() == "CartPole");
    CHECK(run.env().count() == 256);
    while (run.iterate()) {}
    CHECK(run.steps() == 128000);
    CHECK(newest_bytes(parts) == newest_bytes(whole));
    // Changes go over the run's own settings.
    Run more = Run::resume(engine, whole, {{"run", {{"total_steps", 153600}}}});
    while (more.iterate()) {}
    CHECK(more.steps() == 153600);
}

TEST_CASE("a run by V-trace that was resumed ends with the bytes of a whole one") {
    // Several epochs leave ratios behind, which no checkpoint has.
    const auto asked = [](bool emulate) -> Json {
        return {{"learner",
                 {{"name", "ppo"},
                  {"horizon", 4},
                  {"epochs", 2},
                  {"minibatches", 1},
                  {"learning_rate", 0.03},
                  {"advantage", "vtrace"},
                  {"emulate", emulate}}},
                {"policies", {{"default", {{"hidden", {8}}}}}},
                {"run",
                 {{"total_steps", 4 * 40 * 3},
                  {"checkpoint_every", 0},
                  {"report_every", 1},
                  {"evaluate_every", 0}}}};
    };
    Engine engine = host_engine();
    const auto load = [&] { return engine.load("cartpole", {{"count", 40}}); };
    for (const bool emulate : {false, true}) {
        CAPTURE(emulate);
        const Folder folder;
        const auto whole = folder.path() / "whole", parts = folder.path() / "parts";
        {
            Env env = load();
            Run run(env, asked(emulate), whole);
            while (run.iterate()) {}
        }
        {
            Env env = load();
            Run run(env, asked(emulate), parts);
            for (int i = 0; i < 2; ++i) CHECK(run.iterate());
            run.stop();
        }
        Run run = Run::resume(engine, parts);
        while (run.iterate()) {}
        CHECK(run.steps() == 480);
        CHECK(newest_bytes(parts) == newest_bytes(whole));
    }
}

TEST_CASE("a checkpoint is saved when an application asks, if there is where to save it") {
    const Folder folder;
    Engine engine = host_engine();
    Env env = quick_env(engine);
    Run run(env, quick_search(1280000), folder.path() / "run");
    const Checkpoints checkpoints(folder.path() / "run" / "checkpoints");
    CHECK(run.iterate());
    CHECK(checkpoints.list().empty());
    run.save();
    run.save();
    REQUIRE(checkpoints.list().size() == 1);
    CHECK(checkpoints.list()[0].steps == run.steps());
    Env other = quick_env(engine);
    Run nowhere(other, quick_search(1280000));
    CHECK(complaint([&] { nowhere.save(); }) ==
          "this run: has no directory in which a checkpoint could be saved (a run gets one when it "
          "begins)");
    nowhere.stop();
    CHECK(!nowhere.iterate());
}

TEST_CASE(
    "a run's policy now is that of the checkpoint saved now, and training leaves it as it is") {
    const Folder folder;
    Engine engine = host_engine();
    Env env = quick_env(engine);
    Run run(env, quick_search(1280000), folder.path() / "run");
    run.iterate();
    run.save();
    const Policy now = run.policy(), saved(folder.path() / "run", "default", "latest");
    CHECK(now.steps() == run.steps());
    CHECK(now.environment() == "CartPole");
    std::vector<float> seen;
    for (int i = 0; i < 400; ++i) seen.push_back(std::sin(float(i) * 1.7f));
    const std::vector<float> before = best_actions(now, seen);
    CHECK(before == best_actions(saved, seen));
    for (int i = 0; i < 10; ++i) run.iterate();
    CHECK(best_actions(now, seen) == before);
    CHECK(complaint([&] { run.policy("nobody"); }) ==
          "random_search: has no policy 'nobody' (there is: default)");
}

TEST_CASE("a finished run is loaded to be looked at, and its directory stays as it is") {
    const Folder folder;
    const auto out = folder.path() / "run";
    Engine engine = host_engine();
    double wanted = 0;
    {
        Env env = quick_env(engine);
        Run run(env, quick_search(64000), out);
        while (run.iterate()) {}
        wanted = run.evaluate(100);
    }
    const std::string before = newest_bytes(out);
    Run run = Run::load(engine, out);
    Run beside = Run::load(engine, out, "64000");    // nothing is locked
    CHECK(run.steps() == 64000);
    CHECK(run.evaluate(100) == wanted);
    CHECK(beside.evaluate(100) == wanted);
    CHECK(!run.iterate());    // all steps are taken
    CHECK(newest_bytes(out) == before);
    CHECK(complaint([&] { Run::load(engine, out, "17"); }) ==
          out.string() + ": has no checkpoint '17' (there is: best, latest, 64000)");
    CHECK(contains(complaint([&] { Run::load(engine, folder.path() / "none"); }),
                   "none: does not exist (name the directory of a run, such as runs/cartpole-1)"));
}

TEST_CASE("a learner that does not tell how its policies act is named, by the run and by its "
          "checkpoint") {
    const Folder folder;
    const auto out = folder.path() / "run";
    Engine engine({.backend = "cpu",
                   .threads = 2,
                   .cache = cache_place(),
                   .plugin_folders = {build_path("tests/plugins")}});
    Env env = engine.load(source_path("env_sources/tag_gridworld.cu"), {{"count", 64}});
    Run run(env,
            {{"learner", {{"name", "noise"}}},
             {"run", {{"total_steps", 64 * 240}, {"sinks", Json::array()}}}},
            out);
    run.stop();
    CHECK(complaint([&] { run.policy(); }) ==
          "noise: does not tell how its policies act (a learner does by policies())");
    CHECK(contains(complaint([&] { Policy(out, "tagger"); }),
                   "does not say how its policies act: an earlier version wrote it, or its learner "
                   "'noise' does not tell"));
}
