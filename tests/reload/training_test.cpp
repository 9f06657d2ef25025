#include "tests/reload/course.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// One iteration at a time, so that two runs can be stopped at the same one.
const Json one_by_one = {{"run", {{"report_every", 1}}}};

void a_comment(const std::shared_ptr<RunsOn>& on) {
    Course saved(on, one_by_one), never(on, one_by_one);
    for (int i = 0; i < 50; ++i) saved.run().iterate();
    const RunReload reload = saved.save_and_wait(saved.text() + "// a comment\n");
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(reload.version == 2);
    CHECK(reload.steps >= 50 * 512);
    CHECK(reload.seconds > 0);
    for (int i = 0; i < 20; ++i) saved.run().iterate();
    while (never.run().progress().steps < saved.run().progress().steps) never.run().iterate();
    saved.run().evaluate(100);
    saved.run().finish();
    never.run().finish();
    const fs::path name = Checkpoints("").of_steps(saved.run().progress().steps);
    const auto tensors = [&](Course& course) {
        return read_file((course.out() / "checkpoints" / name).replace_extension(".safetensors"));
    };
    CHECK(tensors(saved) == tensors(never));
    CHECK(saved.run().progress().steps > reload.steps);
}

void a_constant(const std::shared_ptr<RunsOn>& on) {
    Course course(on);
    const RunReload reload =
        course.save_and_wait(course.with("gravity = 9.8f", "gravity = 3.5f, force_more = 2"));
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(reload.text == "CartPole was reloaded; version 2 runs.");
    CHECK(!reload.restarted);
    CHECK(course.run().environment().param("gravity") == 3.5f);
    CHECK(course.run().environment().param("force") == 9);
    const Json kept = run_configuration(course.out());
    CHECK(kept["env"]["params"]["gravity"] == 3.5);
    CHECK(kept["env"]["params"]["force"] == 9);
    CHECK(kept["env"]["params"]["force_more"] == 2);
    const auto versions = source_versions(course.out());
    REQUIRE(versions.size() >= 1);
    CHECK(versions.back().step == reload.steps);
    CHECK(contains(read_file(versions.back().folder / "cartpole.cu"), "gravity = 3.5f"));
    // The metrics tell it once.
    std::map<std::string, double> metrics(course.run().progress().metrics.begin(),
                                          course.run().progress().metrics.end());
    CHECK(metrics["reload.version"] == 2);
    CHECK(metrics["reload.seconds"] == reload.seconds);
    course.run().iterate();
    metrics = {course.run().progress().metrics.begin(), course.run().progress().metrics.end()};
    CHECK(!metrics.contains("reload.version"));
    CHECK(course.run().evaluate(40).episodes == 40);
}

void broken_then_good(const std::shared_ptr<RunsOn>& on) {
    Course course(on);
    course.run().evaluate(40);
    const RunReload broken =
        course.save_and_wait(course.with("s.x += p.dt * s.x_dot;", "s.x += p.dt * s.speed;"));
    CHECK(!broken.taken);
    CHECK(contains(broken.text, "cartpole.cu:"));
    CHECK(contains(broken.text, "speed"));
    CHECK(broken.text.ends_with("\n  CartPole was not reloaded; version 1 keeps running."));
    const uint64_t steps = course.run().progress().steps;
    CHECK(course.run().iterate());
    CHECK(course.run().progress().steps > steps);
    const RunReload good =
        course.save_and_wait(course.with("s.x += p.dt * s.x_dot;", "s.x += 2 * p.dt * s.x_dot;"));
    REQUIRE_MESSAGE(good.taken, good.text);
    CHECK(good.version == 2);
    course.run().evaluate(40);
    // A parameter that the configuration has set and that is gone keeps the version, too.
    const RunReload gone =
        course.save_and_wait(course.with("float force = 10.0f", "float forc = 10.0f"));
    CHECK(!gone.taken);
    CHECK(gone.text.ends_with("version 2 keeps running."));
    course.run().iterate();
}

// One more number to see.
std::string wider(const Course& course) {
    std::string text = course.with("struct Obs { float x, x_dot, theta, theta_dot; };",
                                   "struct Obs { float x, x_dot, theta, theta_dot, more; };");
    const std::string seen = "{s.x, s.x_dot, s.theta, s.theta_dot}";
    return text.replace(text.find(seen), seen.size(), "{s.x, s.x_dot, s.theta, s.theta_dot, 0.5f}");
}

void spaces_stop(const std::shared_ptr<RunsOn>& on) {
    Course course(on);
    const RunReload reload = course.save_and_wait(wider(course));
    CHECK(!reload.taken);
    INFO(reload.text);
    CHECK(contains(reload.text, "obs f32 [4] has become obs f32 [5]"));
    CHECK(contains(reload.text, "The run stops at step "));
    const uint64_t steps = course.run().progress().steps;
    CHECK(!course.run().iterate());
    CHECK(course.run().progress().steps == steps);
    course.run().finish();
    CHECK(Checkpoints(course.out() / "checkpoints").list().front().steps == steps);
    CHECK(course.run().evaluate(40).episodes == 40);
}

void spaces_restart(const std::shared_ptr<RunsOn>& on) {
    Course course(on, {{"reload", {{"on_space_change", "restart_learner"}}}});
    course.run().iterate();
    const uint64_t tick = course.run().environment().tick();
    const RunReload reload = course.save_and_wait(wider(course));
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(reload.restarted);
    CHECK(reload.version == 2);
    Environment& env = course.run().environment();
    CHECK(env.tick() > tick);
    CHECK(env.arrays()["obs"].form() == "f32 [32, 5]");
    CHECK(numbers(env, "obs")[4] == 0.5);
    CHECK(course.run().evaluate(40).episodes == 40);
    const uint64_t steps = course.run().progress().steps;
    course.run().iterate();
    CHECK(course.run().progress().steps > steps);
    // Another save of the same spaces, then back: everything goes on from here as ever.
    std::string changed = wider(course);
    changed.replace(changed.find("0.5f}"), 5, "0.25f}");
    REQUIRE(course.save_and_wait(changed).taken);
    CHECK(numbers(course.run().environment(), "obs")[4] == 0.25);
    const RunReload back = course.save_and_wait(course.text());
    REQUIRE_MESSAGE(back.taken, back.text);
    CHECK(back.restarted);
    CHECK(back.version == 4);
    CHECK(course.run().environment().arrays()["obs"].form() == "f32 [32, 4]");
}

void another_state(const std::shared_ptr<RunsOn>& on) {
    Course course(on);
    std::string text = course.with("struct State { float x, x_dot, theta, theta_dot;",
                                   "struct State { float x, x_dot, theta, theta_dot; int more;");
    const RunReload reload = course.save_and_wait(text);
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(reload.state_changed);
    CHECK(!reload.restarted);
    // From the old checkpoints nobody could go on with these arrays: there is one of this very step.
    CHECK(Checkpoints(course.out() / "checkpoints").list().front().steps == reload.steps);
    course.run().iterate();
    course.run().finish();
    const uint64_t steps = course.run().progress().steps;
    course.resume();
    CHECK(course.run().progress().steps == steps);
    // Defaults that the run's configuration has written out are still the file's.
    const size_t at = text.find("gravity = 9.8f");
    text.replace(at, 14, "gravity = 4.5f");
    const RunReload again = course.save_and_wait(text);
    REQUIRE_MESSAGE(again.taken, again.text);
    CHECK(course.run().environment().param("gravity") == 4.5f);
    CHECK(course.run().environment().param("force") == 9);
}

// Evaluations note what report() said, however much that has become.
void another_log(const std::shared_ptr<RunsOn>& on) {
    Course course(on, {{"run", {{"evaluate_every", 1}}}});
    const auto telling = [&](const std::string& fields) {
        return course.with("    static void reset(",
                           "    struct Log { float " + fields +
                               "; };\n"
                               "    static Log report(const State& s, const Params&) {\n"
                               "        Log log{};\n"
                               "        for (float& one : log.told) one = s.theta;\n"
                               "        return log;\n    }\n"
                               "    static void reset(");
    };
    for (const char* const fields :
         {"told[1]", "told[64], a[64], b[64], c[64], d[64], e[64], f[64], g[64]", "told[2]"}) {
        const RunReload reload = course.save_and_wait(telling(fields));
        REQUIRE_MESSAGE(reload.taken, reload.text);
        course.run().iterate();
        CHECK(course.run().evaluate(40).episodes == 40);
    }
}

// As many agents for each policy as before, and other ones.
void other_followers(const std::shared_ptr<RunsOn>& on) {
    Course course(on, {{"env", {{"count", 3}}}, {"run", {{"report_every", 1}}}}, "tag_gridworld");
    const auto followers = [&](const std::string& policy) {
        return numbers(course.run().environment(), "ppo." + policy + ".policy.agents");
    };
    course.run().iterate();
    CHECK(followers("tagger") == std::vector<double>{0, 1, 2, 3});
    CHECK(followers("runner") == std::vector<double>{4});
    const RunReload reload =
        course.save_and_wait(course.with("return id < taggers ? Policy::tagger : Policy::runner;",
                                         "return id > 0 ? Policy::tagger : Policy::runner;"));
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(!reload.restarted);
    course.run().iterate();
    CHECK(followers("tagger") == std::vector<double>{1, 2, 3, 4});
    CHECK(followers("runner") == std::vector<double>{0});
}

constexpr std::pair<const char*, void (*)(const std::shared_ptr<RunsOn>&)> training_cases[] = {
    {"a comment", a_comment},
    {"a constant", a_constant},
    {"broken", broken_then_good},
    {"spaces, stop", spaces_stop},
    {"spaces, restart", spaces_restart},
    {"another state", another_state},
    {"another log", another_log},
    {"other followers", other_followers},
};

}

TEST_CASE("a comment in the file changes no byte of what a training ends with") {
    a_comment(cpu());
}
TEST_CASE("a changed default trains on, is in the configuration, and its source is kept") {
    a_constant(without_drafts(cpu()));
}
TEST_CASE("a run goes on over a broken save, and takes the good one") { broken_then_good(cpu()); }
TEST_CASE("other observations stop the run where that is asked for, with a checkpoint") {
    spaces_stop(without_drafts(cpu()));
}
TEST_CASE("other observations begin with a new learner where that is asked for") {
    spaces_restart(without_drafts(cpu()));
}
TEST_CASE("another state trains on, and such a run can be resumed") {
    another_state(without_drafts(cpu()));
}
TEST_CASE("another log trains on, and evaluations have room for it") {
    another_log(without_drafts(cpu()));
}
TEST_CASE("agents that follow another policy from a save on learn and are learned from by it") {
    other_followers(without_drafts(cpu()));
}

TEST_CASE("runs reload on a GPU" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const auto& one : training_cases) {
        CAPTURE(one.first);
        one.second(on);
    }
}

TEST_CASE("a run that shall not watch does not") {
    Course course(cpu(), {{"reload", {{"watch", false}}}});
    course.save("nothing that compiles");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    while (std::chrono::steady_clock::now() < end) course.run().iterate();
    CHECK(course.told().empty());
    // What is compiled only now is of the version that runs, whatever the file is.
    CHECK(course.run().evaluate(40).episodes == 40);
}

TEST_CASE("a wrong setting of reloads is refused with its path") {
    const auto refusal = [](const Json& reload) {
        return complaint([&] { Course course(cpu(), {{"reload", reload}}); });
    };
    CHECK(contains(refusal({{"on_state_change", "kept"}}), "test: reload.on_state_change: "));
    CHECK(
        contains(refusal({{"on_spaces", "stop"}}), "reload.on_spaces: reload has no 'on_spaces'"));
    CHECK(contains(refusal({{"watch", 1}}), "reload.watch: "));
}
