#include "tests/reload/course.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <mutex>

// What a save compiles anew.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// Keeps what was asked for.
class NotedCompiler final : public Compiler {
public:
    NotedCompiler(std::unique_ptr<Compiler> inner,
                  std::shared_ptr<std::vector<ProgramSource>> asked)
        : inner_(std::move(inner)), asked_(std::move(asked)) {}

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        {
            const std::lock_guard lock(mutex_);
            asked_->push_back(source);
        }
        return inner_->compile(source, cancel);
    }

private:
    std::unique_ptr<Compiler> inner_;
    std::shared_ptr<std::vector<ProgramSource>> asked_;
    std::mutex mutex_;
};

// Drafts of programs around the author's functions come first, as where helpers compile.
class DraftsAside final : public Compiler {
public:
    DraftsAside(std::unique_ptr<Compiler> inner) : inner_(std::move(inner)) {}

    std::atomic<int> in_full = 0;

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        Compiled made = inner_->compile(source, cancel);
        in_full += !source.draft && contains(source.instantiation, "NACELLE_STEPWISE");
        return made;
    }
    bool get_ready_beside(const ProgramSource&) override { return true; }

private:
    std::unique_ptr<Compiler> inner_;
};

// What updates need is sizes.
void only_the_authors(const std::shared_ptr<RunsOn>& on) {
    Course course(on);
    const auto asked = std::make_shared<std::vector<ProgramSource>>();
    on->compiler = std::make_unique<NotedCompiler>(std::move(on->compiler), asked);
    const RunReload reload = course.save_and_wait(course.with("gravity = 9.8f", "gravity = 3.5f"));
    REQUIRE_MESSAGE(reload.taken, reload.text);
    std::set<std::string> steps, rollouts;
    for (const ProgramSource& source : *asked) {
        INFO(source.instantiation);
        CHECK(source.author.filename() == "cartpole.cu");
        if (contains(source.instantiation, "NACELLE_STEPWISE")) steps.insert(source.instantiation);
        if (contains(source.instantiation, "(rollout_")) rollouts.insert(source.instantiation);
        CHECK(!contains(source.instantiation, "(gradient_"));
        CHECK(!contains(source.instantiation, "(adam_"));
    }
    CHECK(steps.size() == 1);
    CHECK(rollouts.size() == 1);
    course.run().iterate();
    CHECK(course.run().evaluate(40).episodes == 40);
}

}

TEST_CASE(
    "a save in a training compiles what carries the author's code, and nothing of the update") {
    only_the_authors(cpu());
}
TEST_CASE(
    "a full build that comes before its draft was taken brings programs of other sizes, too") {
    const std::shared_ptr<RunsOn> on = cpu();
    Bench bench(on);
    auto aside = std::make_unique<DraftsAside>(std::move(on->compiler));
    const std::atomic<int>& in_full = aside->in_full;
    on->compiler = std::move(aside);
    Recipe recipe = bench.env().programs().recipe();
    recipe.programs[7] = {.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n",
                          .headers = {},
                          .defines = {},
                          .of_sizes = true};
    Rebuilder rebuilder(on, false);
    rebuilder.use(recipe);
    // The full build is there a moment after its compiler has ended: of how many is not known, so it is asked for again.
    for (int attempt = 0; attempt < 12; ++attempt) {
        const int before = in_full;
        const Author wider = {.before = "// " + std::to_string(fresh_seed()) + "\n",
                              .obs = "float value, more;",
                              .observe = "return {s.value, 1};"};
        rebuilder.compile({{{bench.source(), wider.text()}}, {}});
        while (in_full == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20 << attempt));
        const std::optional<Rebuilt> built = rebuilder.take();
        REQUIRE(built);
        REQUIRE_MESSAGE(built->code, built->failure);
        if (built->code->stepwise.get().draft) continue;
        CHECK(!built->finishes);
        CHECK(built->programs.contains(7));
        return;
    }
    FAIL("every draft was taken first");
}
TEST_CASE("a save in a training on a GPU compiles what carries the author's code" *
          test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    only_the_authors(on);
}
