#include "engine/run/run.h"
#include "tests/plugins/bench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// What the probe is refused when it asks for something within a call.
std::string refused(const std::string& what, const std::string& in) {
    static const auto on = cpu();
    Environment env(on, recommended("cartpole", 8));
    Plugins plugins = plugins_of({made_plugins});
    return complaint([&] {
        LearnerInstance probe(plugins, env, "probe", {{"ask", what}, {"in", in}});
        probe.record(on->stream->native());
        probe.act(true);
        probe.metrics();
    });
}

void learn_and_act(const std::shared_ptr<RunsOn>& on) {
    constexpr uint32_t count = 300;
    Environment env(on, recommended("cartpole", count));
    Plugins plugins = plugins_of({made_plugins});
    LearnerInstance probe(plugins, env, "probe", {{"name", "probe"}});
    CHECK(probe.steps_per_iteration() == 2 * count);
    for (int i = 0; i < 3; ++i) env.step_at_random();
    CHECK(numbers(env, "episode.length") == std::vector<double>(count, 3));
    const uint64_t tick = env.tick();

    on->stream->begin_capture();
    probe.record(on->stream->native());
    const auto graph = on->stream->end_capture();
    CHECK(probe.metrics() == MetricValues{{"first", 0}, {"last", 0}});
    for (int i = 0; i < 3; ++i) on->stream->replay(*graph);
    on->stream->synchronize();

    CHECK(probe.metrics() == MetricValues{{"first", 99}, {"last", 99}});
    CHECK(env.tick() == tick + 3 * 6);
    CHECK(numbers(env, "episode.length") == std::vector<double>(count, 0));
    const NamedArray& counts = env.arrays()["probe.counts"];
    CHECK(counts.form() == "u32 [300]");
    CHECK(counts.role() == Role::plugin);
    CHECK(counts.kept() == 1);

    for (const bool greedy : {true, false}) {
        probe.act(greedy);
        CHECK(numbers(env, "action.push") == std::vector<double>(count, greedy ? 1 : 0));
    }
}

}

TEST_CASE("a learner's kernels are recorded once and replayed") { learn_and_act(cpu()); }

TEST_CASE("a learner's kernels are recorded once and replayed on a GPU" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    learn_and_act(on);
}

TEST_CASE("a learner that captures by itself is called for each iteration, and may wait in it") {
    const auto on = cpu();
    Plugins plugins = plugins_of({made_plugins});
    const Json configuration = {{"learner", {{"name", "alone"}}},
                                {"run", {{"total_steps", 80}, {"evaluate_every", 0}}}};
    const auto env = std::make_shared<Environment>(on, recommended("cartpole", 8));
    TrainingRun run(env, plugins, configuration, "test");
    const uint64_t tick = env->tick();
    CHECK(run.progress().iteration == 0);
    CHECK(numbers(*env, "alone.calls") == std::vector<double>{0});
    while (run.iterate()) {}
    CHECK(run.progress().steps == 80);
    CHECK(run.progress().metrics.front() == std::pair<std::string, double>("calls", 10));
    CHECK(env->tick() == tick + 10);
}

TEST_CASE("an array that an ended instance left is taken over, zeroed; a living one's is not") {
    const auto on = cpu();
    Environment env(on, recommended("cartpole", 8));
    Plugins plugins = plugins_of({made_plugins});
    {
        LearnerInstance probe(plugins, env, "probe", Json::object());
        probe.record(on->stream->native());
        CHECK(probe.metrics().front().second == 33);
        CHECK(complaint([&] { LearnerInstance(plugins, env, "probe", Json::object()); }) ==
              "probe: there is an array 'probe.counts' already");
    }
    LearnerInstance probe(plugins, env, "probe", Json::object());
    CHECK(probe.metrics().front().second == 0);
}

TEST_CASE("a learner may neither allocate, compile nor wait while it is recorded") {
    for (const std::string what : {"program", "array_create", "read", "write"})
        CHECK(refused(what, "record") == "probe: " + what + "() is not possible within record()");
    CHECK(refused("program", "act") == "");
    CHECK(refused("read", "metrics") == "");
}

TEST_CASE("what a learner asks for wrongly is refused in words") {
    CHECK(refused("array", "record") ==
          "probe: cartpole: there is no array 'action.puhs' (did you mean 'action.push'?)");
    CHECK(contains(refused("kernel", "record"), "it has no kernel 'probe_cuont'"));
    CHECK(refused("kernel of no program", "record") == "probe: there is no program 7");
    CHECK(refused("no kernel", "record") == "probe: launch() was given no kernel of this plugin");
    CHECK(refused("environments", "record") ==
          "probe: launch_environments() was given probe_count, whose program has the environment's "
          "sizes and none of its functions");
    CHECK(refused("another stream", "record") ==
          "probe: the stream is not the one of this environment");
    CHECK(refused("the same array", "create") == "probe: there is an array 'probe.counts' already");
    CHECK(refused("a wrong size", "create") == "probe: probe.more: a size of 0 is not possible");
    CHECK(refused("a wrong type", "create") == "probe: probe.more: there is no element type 40");
    CHECK(refused("table", "create") == "probe: tables/1 is for hooks");
    CHECK(refused("throws after a refusal", "act") == "probe: something else");
    CHECK(refused("a thread", "act") ==
          "probe: the host may be asked only within a call and on the thread that made it");
}

TEST_CASE("a kernel that a draft leaves out is refused while the draft runs") {
    const auto on = cpu();
    Environment env(on, recommended("cartpole", 8));
    Plugins plugins = plugins_of({made_plugins});
    LearnerInstance probe(plugins, env, "probe", {{"ask", "left out"}, {"in", "act"}});
    const Recipe recipe = env.programs().recipe();
    const auto run = [&](bool draft) {
        std::map<uint64_t, Binary> builds;
        for (auto [number, text] : recipe.programs) {
            // Else the full build of the same text would be taken from the cache.
            text.defines.push_back(draft ? "PROBE_OF_DRAFT" : "PROBE_IN_FULL");
            if (!text.of_sizes) builds[number] = env.code().compile_copy(text, {.draft = draft});
        }
        const auto others = env.programs().run_instead(builds);
        probe.refresh();
        return complaint([&] { probe.act(true); });
    };
    CHECK(run(true) ==
          "probe: launch() was given probe_in_full, which this build of its program leaves out");
    CHECK(run(false) == "");
}

TEST_CASE("a program of a plugin that does not compile is an error with the compiler's words") {
    const std::string text = refused("broken program", "create");
    INFO(text);
    CHECK(text.starts_with("probe: the program of probe:3: error: "));
    CHECK(contains(text, "nowhere"));
    CHECK(contains(text, "\n     3 | int broken = nowhere;"));
}
