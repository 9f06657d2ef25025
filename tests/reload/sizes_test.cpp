#include "tests/reload/course.h"
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
TEST_CASE("a save in a training on a GPU compiles what carries the author's code") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    only_the_authors(on);
}
