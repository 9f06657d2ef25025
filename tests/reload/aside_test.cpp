#include "tests/reload/course.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>
#include <mutex>

// Drafts that compile beside each other: of the environment in three parts, and of the programs around it.
using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Asked {
    std::string instantiation;
    std::vector<std::string> defines;
    bool draft, aside;
};

// Compiles as where helpers do, and keeps what was asked for.
class AsideCompiler final : public Compiler {
public:
    AsideCompiler(std::unique_ptr<Compiler> inner, std::shared_ptr<std::vector<Asked>> asked)
        : inner_(std::move(inner)), asked_(std::move(asked)) {}

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        {
            const std::lock_guard lock(mutex_);
            asked_->push_back({source.instantiation, source.defines, source.draft, source.aside});
        }
        return inner_->compile(source, cancel);
    }
    bool has_helpers() const override { return true; }
    bool get_ready_beside(const ProgramSource&) override { return true; }

private:
    std::unique_ptr<Compiler> inner_;
    std::shared_ptr<std::vector<Asked>> asked_;
    std::mutex mutex_;
};

std::shared_ptr<RunsOn> cpu_aside(const std::shared_ptr<std::vector<Asked>>& asked) {
    const std::shared_ptr<RunsOn> on = cpu();
    on->compiler = std::make_unique<AsideCompiler>(std::move(on->compiler), asked);
    return on;
}
std::string new_comment() { return "// " + std::to_string(fresh_seed()) + "\n"; }

size_t count(const std::vector<Asked>& asked, const std::string& text, bool draft) {
    return size_t(std::ranges::count_if(asked, [&](const Asked& one) {
        return one.draft == draft && contains(one.instantiation, text);
    }));
}

bool is_without(const Asked& one, const std::string& define) {
    return std::ranges::find(one.defines, define) == one.defines.end();
}
bool begins_from_snapshots(const Asked& one) { return is_without(one, "NACELLE_NO_POOL=1"); }

// Trains until the full build has taken the place of the draft.
void await_full(Course& course, uint64_t draft) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (course.run().environment().stepwise().generation() == draft) {
        REQUIRE(course.run().iterate());
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
}

bool has_kernel(Course& course, const std::string& name) {
    const EnvPrograms& programs = course.run().environment().programs();
    const Recipe recipe = programs.recipe();
    return std::ranges::any_of(recipe.programs, [&](const auto& program) {
        return programs.find(program.first)->has_kernel(name);
    });
}

// `in_full` is the kernel of a rollout that a draft has by launches for each step, or empty.
void a_comment_by_drafts(const std::shared_ptr<RunsOn>& on, const Json& over = Json::object(),
                         const std::string& in_full = {},
                         const std::string& environment = "cartpole") {
    Json one_by_one = {{"run", {{"report_every", 1}}}};
    merge_json(one_by_one, over);
    Course saved(on, one_by_one, environment), never(on, one_by_one, environment);
    const auto hold_kernels = [&](bool draft) {
        if (in_full.empty()) return;
        CHECK(has_kernel(saved, in_full) == !draft);
        CHECK(has_kernel(saved, "learn_step_once") == draft);
        if (in_full != "learn_rollout_warps") return;
        CHECK(has_kernel(saved, "learn_play_warps") == !draft);
        CHECK(has_kernel(saved, "learn_play_once") == draft);
    };
    for (int i = 0; i < 10; ++i) saved.run().iterate();
    hold_kernels(false);
    const RunReload reload = saved.save_and_wait(saved.text() + new_comment());
    REQUIRE_MESSAGE(reload.taken, reload.text);
    CHECK(reload.version == 2);
    const uint64_t draft = saved.run().environment().stepwise().generation();
    hold_kernels(true);
    for (int i = 0; i < 5; ++i) saved.run().iterate();
    saved.run().evaluate(20);
    await_full(saved, draft);
    hold_kernels(false);
    CHECK(saved.told().size() == 1);
    CHECK(saved.run().environment().version() == 2);
    for (int i = 0; i < 5; ++i) saved.run().iterate();
    while (never.run().progress().steps < saved.run().progress().steps) never.run().iterate();
    saved.run().evaluate(100);
    saved.run().finish();
    never.run().finish();
    const std::filesystem::path name = Checkpoints("").of_steps(saved.run().progress().steps);
    const auto tensors = [&](Course& course) {
        return read_file((course.out() / "checkpoints" / name).replace_extension(".safetensors"));
    };
    CHECK(tensors(saved) == tensors(never));
}

}

TEST_CASE("where helpers compile, a draft is of three parts, and the full build of one") {
    const auto asked = std::make_shared<std::vector<Asked>>();
    Bench bench(cpu(), {.before = new_comment()});
    bench.env().on().compiler =
        std::make_unique<AsideCompiler>(std::move(bench.env().on().compiler), asked);
    const Reload reload =
        bench.save_and_wait({.before = new_comment(), .step = "s.value = 5; ++s.steps;"});
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(count(*asked, "NACELLE_STEP_KERNEL()", true) == 1);
    CHECK(count(*asked, "NACELLE_RESET_KERNEL()", true) == 1);
    CHECK(count(*asked, "NACELLE_SMALL_KERNELS()", true) == 1);
    const uint64_t draft = bench.env().stepwise().generation();
    for (int pass = 0; pass < 2; ++pass) {
        bench.env().step_at_random();
        CHECK(numbers(bench.env(), "state.value") == std::vector<double>(64, 5));
        bench.env().reset();
        CHECK(numbers(bench.env(), "state.value") == std::vector<double>(64, 0));
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (pass == 0 && bench.env().stepwise().generation() == draft) {
            REQUIRE(std::chrono::steady_clock::now() < end);
            CHECK(!bench.reloader().take());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    CHECK(count(*asked, "NACELLE_STEPWISE", false) == 1);
    // The part that fails is told, and ends the others.
    const Reload broken = bench.save_and_wait({.before = new_comment(), .reset = "s.valu = 0;"});
    CHECK(!broken.taken);
    CHECK(contains(broken.why, "valu"));
    const Reload unsound = bench.save_and_wait(
        {.before = new_comment(), .state = "float value; int steps; int* place;"});
    CHECK(!unsound.taken);
    CHECK_MESSAGE(contains(unsound.why, "State has a field that cannot be stored"), unsound.why);
    CHECK(bench.save_and_wait({.before = new_comment(), .step = "s.value = 7;"}).taken);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 7);
}

TEST_CASE("where helpers compile, a comment that is saved in a training changes no byte of it") {
    const auto asked = std::make_shared<std::vector<Asked>>();
    a_comment_by_drafts(cpu_aside(asked));
    CHECK(count(*asked, "(rollout_", true) >= 1);
    // At the start, and behind the draft.
    CHECK(count(*asked, "(rollout_", false) >= 2);
    CHECK(count(*asked, "(gradient_", true) == 0);
    // A run never has episodes begin from snapshots: no draft that steps has the code for it; every full build has.
    for (const Asked& one : *asked) {
        const bool beside_step = contains(one.instantiation, "NACELLE_RESET_KERNEL()") ||
                                 contains(one.instantiation, "NACELLE_SMALL_KERNELS()");
        CHECK(begins_from_snapshots(one) == (!one.draft || beside_step));
    }
}
TEST_CASE("the parts of a draft know the parameters that vary, and have no names where none does") {
    for (const bool vary : {true, false}) {
        CAPTURE(vary);
        const auto asked = std::make_shared<std::vector<Asked>>();
        const Json by = vary ? Json{{"uniform", {3, 4}}} : Json(3);
        Bench bench(cpu_aside(asked), {.before = new_comment()}, {{"params", {{"by", by}}}});
        REQUIRE(bench.save_and_wait({.before = new_comment()}).taken);
        for (const Asked& one : *asked) {
            const bool has_table = contains(one.instantiation, "NACELLE_PROGRAM()") ||
                                   contains(one.instantiation, "NACELLE_STEPWISE()");
            CHECK(is_without(one, "NACELLE_NAMELESS=1") == (vary || has_table));
        }
        bench.env().reset();
        bench.env().step_at_random();
        std::set<double> found;
        for (const double value : numbers(bench.env(), "state.value")) {
            CHECK(value >= 3);
            CHECK(value <= 4);
            found.insert(value);
        }
        CHECK((found.size() > 1) == vary);
    }
}
TEST_CASE("a draft for whoever may begin episodes from snapshots begins them there") {
    const auto asked = std::make_shared<std::vector<Asked>>();
    const Author counts{.before = new_comment(), .time_limit = 3};
    Bench bench(cpu_aside(asked), counts);
    for (int step = 0; step < 2; ++step) bench.env().step_at_random();
    bench.env().save_snapshots(std::vector<uint32_t>{5});
    bench.env().set_snapshot_chance(1);
    const uint64_t full = bench.env().stepwise().generation();
    Author saved = counts;
    saved.before = new_comment();
    REQUIRE(bench.save_and_wait(saved).taken);
    CHECK(bench.env().stepwise().generation() == full + 1);
    for (const Asked& one : *asked) CHECK(begins_from_snapshots(one));
    // Episodes begin with the value 2 there, by reset() with 0.
    for (int step = 0; step < 12; ++step) {
        bench.env().step_at_random();
        for (const double value : numbers(bench.env(), "state.value")) CHECK(value >= 2);
    }
}
namespace {

Json emulated(int envs) {
    return {{"env", {{"count", envs}}},
            {"learner", {{"emulate", true}, {"horizon", 4}}},
            {"run", {{"evaluate_every", 1000}}}};
}

}

TEST_CASE("a draft that launches each step of a GPU's rollout leaves the bytes of the full build, "
          "on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("a thread of the host for each of a GPU's: the plain build has it");
#endif
    a_comment_by_drafts(cpu_aside(std::make_shared<std::vector<Asked>>()), emulated(9),
                        "learn_rollout_warps");
}
TEST_CASE(
    "a draft of a team, one of whose policies plays at random, leaves the bytes of the full build, "
    "on threads" *
    test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("a thread of the host for each of a GPU's: the plain build has it");
#endif
    Json of_teams = emulated(3);
    of_teams["policies"] = {{"runner", {{"train", "random"}}}};
    a_comment_by_drafts(cpu_aside(std::make_shared<std::vector<Asked>>()), of_teams,
                        "learn_rollout_teams", "tag_gridworld");
}
TEST_CASE("on a GPU a rollout's draft leaves the bytes of its full build where floats are strict" *
          test::on_gpu()) {
    const std::filesystem::path tool = build_path("tools/nacelle");
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] {
        on = open_backend({.backend = "cuda",
                           .threads = 2,
                           .cache = cache_place(),
                           .env_folders = {env_folder},
                           .compile_helper = {tool.string(), "compile-helper"}});
    });
    if (!missing.empty()) NACELLE_SKIP(missing);
    if (!std::filesystem::exists(tool)) NACELLE_SKIP("no command line");
    // Else the assembler makes one rounding of a product and a sum in a full build, and two in a draft.
    a_comment_by_drafts(on, {{"env", {{"strict", true}}}}, "learn_rollout_warps");
}
