#include "tests/reload/bench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

using Where = std::shared_ptr<RunsOn>;

void constant_changes(const Where& on) {
    Bench bench(on);
    for (int i = 0; i < 5; ++i) bench.env().step_at_random();
    void* const memory = bench.env().arrays()["state.value"].device();
    const Reload reload = bench.save_and_wait({.step = "s.value += 100; ++s.steps;"});
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(reload.version == 2);
    CHECK(!reload.state_changed);
    CHECK(bench.said(reload) == "Counter was reloaded; version 2 runs.");
    CHECK(bench.env().arrays()["state.value"].device() == memory);
    const double value = bench.first("state.value"), steps = bench.first("state.steps");
    CHECK(value >= 5);
    CHECK(value == steps);
    CHECK(double(bench.env().tick()) == steps + 1);    // one for the first reset
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == value + 100);
    CHECK(bench.first("obs") == value + 100);
    bench.env().check_finite();
}

void field_comes_and_goes(const Where& on) {
    Bench bench(on);
    bench.env().step_at_random();
    const Author wider{.state = "float value; float extra[2]; int steps;",
                       .reset = "s.value = 0; s.extra[0] = 7; s.extra[1] = 8; s.steps = 0;",
                       .step = "s.value += s.extra[0]; ++s.steps;"};
    const Reload more = bench.save_and_wait(wider);
    REQUIRE_MESSAGE(more.taken, more.why);
    CHECK(more.state_changed);
    const double value = bench.first("state.value");
    CHECK(value == bench.first("state.steps"));
    CHECK(value >= 1);
    CHECK(bench.env().arrays()["state.extra"].form() == "f32 [2, 64]");
    CHECK(numbers(bench.env(), "state.extra").front() == 7);
    CHECK(numbers(bench.env(), "state.extra").back() == 8);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == value + 7);

    const Reload less = bench.save_and_wait(
        {.state = "float value;", .reset = "s.value = 0;", .step = "s.value += 1;"});
    REQUIRE_MESSAGE(less.taken, less.why);
    CHECK(bench.env().arrays().find("state.extra") == nullptr);
    CHECK(bench.env().arrays().find("state.steps") == nullptr);
    CHECK(bench.first("state.value") >= value + 7);
}

void shape_changes(const Where& on) {
    const Author two{.state = "float value; int steps; float list[2];",
                     .reset = "s.value = 0; s.steps = 0; s.list[0] = s.list[1] = 3;",
                     .step = "s.value += 1; ++s.steps; s.list[0] += 1;"};
    Author three = two;
    three.state = "float value; int steps; float list[3];";
    three.reset = "s.value = 0; s.steps = 0; for (float& x : s.list) x = 5;";
    Bench bench(on, two);
    bench.env().step_at_random();
    const Reload reload = bench.save_and_wait(three);
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(numbers(bench.env(), "state.list") == std::vector<double>(3 * 64, 5));
    CHECK(bench.first("state.value") >= 1);
    CHECK(bench.first("state.value") == bench.first("state.steps"));
}

void state_resets_where_asked(const Where& on) {
    Bench bench(on, {}, Json::object(), {.on_state_change = ReloadSettings::OnState::reset});
    bench.env().step_at_random();
    // The layout is the same: nothing to reset.
    REQUIRE(bench.save_and_wait({.step = "s.value += 2; ++s.steps;"}).taken);
    CHECK(bench.first("state.steps") >= 1);
    REQUIRE(bench
                .save_and_wait({.state = "float value; int steps; int more;",
                                .reset = "s.value = 0; s.steps = 0; s.more = 4;"})
                .taken);
    CHECK(numbers(bench.env(), "state.steps") == std::vector<double>(64, 0));
    CHECK(numbers(bench.env(), "obs") == std::vector<double>(64, 0));
    CHECK(numbers(bench.env(), "state.more") == std::vector<double>(64, 4));
}

void observation_is_of_the_state_as_it_is(const Where& on) {
    Bench bench(on, {.time_limit = 7});
    for (int i = 0; i < 7; ++i) bench.env().step_at_random();
    // Every environment has just ended an episode: that it has must outlast the reload.
    const std::vector<double> length = numbers(bench.env(), "episode.length");
    CHECK(length == std::vector<double>(64, 7));
    bench.save({.observe = "return {s.value + 1000};", .time_limit = 7});
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::optional<Reload> reload;
    while (!reload && std::chrono::steady_clock::now() < end) reload = bench.reloader().take();
    REQUIRE(reload.has_value());
    REQUIRE_MESSAGE(reload->taken, reload->why);
    CHECK(numbers(bench.env(), "obs") == std::vector<double>(64, 1000));
    CHECK(numbers(bench.env(), "episode.length") == length);
    CHECK(numbers(bench.env(), "truncated") == std::vector<double>(64, 1));
    bench.env().step_at_random();
    CHECK(numbers(bench.env(), "episode.length") == std::vector<double>(64, 1));
}

void parameters(const Where& on) {
    Bench bench(on, {}, {{"params", {{"by", 10}}}});
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 10);
    // Another default of what is set changes nothing; a new parameter has its default.
    REQUIRE(bench
                .save_and_wait({.params = "float by = 3, more = 2;",
                                .step = "s.value = p.by; s.value += 0.25f * p.more; ++s.steps;"})
                .taken);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 10.5);
    // Another default of what is not set takes effect; what was set while it ran stays, too.
    bench.env().set_param("by", 20);
    REQUIRE(bench
                .save_and_wait({.params = "int pad = 1; float more = 4, by = 3;",
                                .step = "s.value = p.by; s.value += 0.25f * p.more; ++s.steps;"})
                .taken);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 21);
    // What is set and gone keeps the running version.
    const Reload gone =
        bench.save_and_wait({.params = "float bye = 3;", .step = "s.value = p.bye;"});
    CHECK(!gone.taken);
    CHECK(bench.said(gone) ==
          "run.json: env.params.by: Counter has no parameter 'by' (did you mean 'bye'?)\n"
          "  Counter was not reloaded; version 3 keeps running.");
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 21);
    CHECK(bench.env().param("more") == 4);
}

void spaces_change(const Where& on) {
    Bench bench(on);
    bench.env().step_at_random();
    const Reload reload = bench.save_and_wait({.action = "nacelle::Discrete<5> go;",
                                               .obs = "float value, twice;",
                                               .observe = "return {s.value, 2 * s.value};"});
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(reload.other_spaces == "action.go one of 2 i32 has become action.go one of 5 i32");
    CHECK(bench.env().arrays()["obs"].form() == "f32 [64, 2]");
    const std::vector<double> seen = numbers(bench.env(), "obs");
    CHECK(seen[0] == bench.first("state.value"));
    CHECK(seen[1] == 2 * seen[0]);
    CHECK(seen[0] >= 1);
}

void not_finite(const Where& on) {
    Bench bench(on);
    bench.env().step_at_random();
    const Author broken{.reset = "s.value = nacelle::log(-1.0f); s.steps = 0;"};
    const Reload at_reset = bench.save_and_wait(broken);
    CHECK(!at_reset.taken);
    CHECK(contains(at_reset.why, "obs of environment 0 is not a number"));
    // Only the state as it is now shows this one.
    const Reload now =
        bench.save_and_wait({.observe = "return {s.steps > 0 ? nacelle::log(-1.0f) : 0.0f};"});
    CHECK(!now.taken);
    CHECK(contains(now.why, "obs of environment 0 is not a number"));
    const double steps = bench.first("state.steps");
    bench.env().step_at_random();
    bench.env().check_finite();
    CHECK(bench.first("state.steps") == steps + 1);
    CHECK(bench.first("obs") == steps + 1);
    REQUIRE(bench.save_and_wait({.step = "s.value += 2; ++s.steps;"}).taken);
}

void program_stays_valid(const Where& on) {
    Bench bench(on);
    Program& program = bench.env().programs().add(
        {.instantiation =
             "#include <nacelle/programs/random_rollout.h>\nNACELLE_RANDOM_ROLLOUT()\n",
         .headers = {},
         .defines = {}});
    const uint64_t generation = program.generation();
    void* const before = program.kernel("nacelle_random_rollout").function;
    const Reload reload = bench.save_and_wait({.step = "s.value += 50; ++s.steps;"});
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(program.generation() > generation);
    CHECK(program.kernel("nacelle_random_rollout").function != before);
    CHECK(std::string(program.schema().name()) == "Counter");
}

void snapshots_stay(const Where& on) {
    Bench bench(on);
    for (int i = 0; i < 3; ++i) bench.env().step_at_random();
    bench.env().save_snapshots(std::vector<uint32_t>{0, 1, 2});
    REQUIRE(bench
                .save_and_wait({.state = "float value; int steps; float extra;",
                                .reset = "s.value = 0; s.steps = 0; s.extra = 9;"})
                .taken);
    bench.env().step_at_random();
    bench.env().restore_snapshots(std::vector<uint32_t>{10}, std::vector<uint32_t>{1});
    CHECK(numbers(bench.env(), "state.value")[10] == 3);
    CHECK(numbers(bench.env(), "state.extra")[10] == 9);
    CHECK(bench.env().snapshots() == 3);
}

constexpr std::pair<const char*, void (*)(const Where&)> stepping_cases[] = {
    {"a changed constant", constant_changes},
    {"fields", field_comes_and_goes},
    {"a shape", shape_changes},
    {"a reset", state_resets_where_asked},
    {"an observation", observation_is_of_the_state_as_it_is},
    {"parameters", parameters},
    {"spaces", spaces_change},
    {"not finite", not_finite},
    {"a program", program_stays_valid},
    {"snapshots", snapshots_stay},
};

}

TEST_CASE("a reload with the same layout keeps every array and the clock") {
    constant_changes(without_drafts(cpu()));
}
TEST_CASE("a new field has what reset() gives, a removed one goes, the others stay") {
    field_comes_and_goes(without_drafts(cpu()));
}
TEST_CASE("a field of another shape has what reset() gives") {
    shape_changes(without_drafts(cpu()));
}
TEST_CASE("another state begins new episodes where that is asked for") {
    state_resets_where_asked(without_drafts(cpu()));
}
TEST_CASE("a new observe() shows the state as it is, and nothing else has changed") {
    observation_is_of_the_state_as_it_is(without_drafts(cpu()));
}
TEST_CASE("parameters that were set stay, new defaults count, a vanished one is refused") {
    parameters(without_drafts(cpu()));
}
TEST_CASE("other observations and actions come with their arrays") {
    spaces_change(without_drafts(cpu()));
}
TEST_CASE("what is not finite, at reset or in the state as it is, keeps the running version") {
    not_finite(without_drafts(cpu()));
}
TEST_CASE("a program stays valid, with new kernels") { program_stays_valid(without_drafts(cpu())); }
TEST_CASE("snapshots stay; of a new field they hold what reset() gives") {
    snapshots_stay(without_drafts(cpu()));
}

TEST_CASE("all of this on a GPU" * test::on_gpu()) {
    Where on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const auto& one : stepping_cases) {
        CAPTURE(one.first);
        one.second(on);
    }
}

TEST_CASE("looking again changes no byte of an environment, of whatever kind") {
    for (const std::string& name : few_if_sanitized(kinds(), {0, 3})) {
        CAPTURE(name);
        const Folder folder;
        for (const auto& entry : std::filesystem::directory_iterator(env_folder))
            std::filesystem::copy(entry.path(), folder.path() / entry.path().filename(),
                                  std::filesystem::copy_options::recursive);
        Json env = load_json(env_folder / (name + ".json")).value("env", Json::object());
        const std::filesystem::path source = folder.path() / (name + ".cu");
        env["source"] = source.string();
        env["count"] = 40;
        const auto on = without_drafts(cpu());
        auto saved = std::make_shared<Environment>(on, settings_of(env));
        Environment never(on, settings_of(env));
        Reloader reloader(saved, {});
        for (int i = 0; i < 33; ++i) saved->step_at_random(), never.step_at_random();
        folder.write(name + ".cu", read_file(source) + "// and a comment\n");
        std::optional<Reload> reload;
        for (int i = 0; !reload && i < 60000; ++i) {
            reload = reloader.take();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        REQUIRE(reload.has_value());
        REQUIRE_MESSAGE(reload->taken, reload->why);
        CHECK(first_difference(*saved, never) == "");
        for (int i = 0; i < 33; ++i) saved->step_at_random(), never.step_at_random();
        CHECK(first_difference(*saved, never) == "");
        CHECK(saved->tick() == never.tick());
    }
}
