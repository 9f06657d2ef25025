#include "engine/jit/compile_cached.h"
#include "tests/reload/bench.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Takes at least so long for each program, unless it is cancelled.
class SlowCompiler final : public Compiler {
public:
    SlowCompiler(std::unique_ptr<Compiler> inner, milliseconds least)
        : inner_(std::move(inner)), least_(least) {}

    std::atomic<int> begun = 0;

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        const auto end = steady_clock::now() + least_;
        ++begun;
        Compiled made = inner_->compile(source, cancel);
        while (steady_clock::now() < end) {
            if (cancel && *cancel) throw_cancelled(source);
            std::this_thread::sleep_for(milliseconds(1));
        }
        return made;
    }

private:
    std::unique_ptr<Compiler> inner_;
    milliseconds least_;
};

Author adding(int by, const std::string& unique) {
    return {.before = unique, .step = "s.value = " + std::to_string(by) + "; ++s.steps;"};
}

}

// A quarter of what an author does: saves each 1.2 s, a compiler that takes 2 s, a version at least each 3 s.
TEST_CASE("versions go live while saves are faster than the compiler") {
    const std::shared_ptr<RunsOn> on = cpu();
    const std::string unique = "// " + std::to_string(fresh_seed()) + "\n";
    Bench bench(on, adding(0, unique));
    on->compiler = std::make_unique<SlowCompiler>(std::move(on->compiler), milliseconds(500));
    std::vector<double> gaps, compiles;
    auto last = steady_clock::now();
    int saved = 0, running = 0;
    // Where saves end compiles, nothing runs before the last of them.
    while (gaps.size() < 3 && saved < 100) {
        bench.save(adding(++saved, unique));
        const auto next = steady_clock::now() + milliseconds(300);
        while (steady_clock::now() < next) {
            bench.env().step_at_random();
            if (const std::optional<Reload> reload = bench.reloader().take()) {
                REQUIRE_MESSAGE(reload->taken, reload->why);
                gaps.push_back(std::chrono::duration<double>(steady_clock::now() - last).count());
                compiles.push_back(reload->compile_seconds);
                last = steady_clock::now();
                bench.env().step_at_random();
                const int now = int(bench.first("state.value"));
                CHECK(now > running);
                running = now;
            }
            std::this_thread::sleep_for(milliseconds(1));
        }
    }
    REQUIRE(gaps.size() >= 3);
    const double slowest = *std::max_element(compiles.begin(), compiles.end());
    // A compile that has just begun may be ended once.
    for (const double gap : gaps) CHECK(gap < 2 * slowest + 1);
    MESSAGE(gaps.size(), " versions of ", saved, " saves, at most ",
            *std::max_element(gaps.begin(), gaps.end()), " s apart; the slowest compile took ",
            slowest, " s");
    // And the last one runs.
    CHECK(bench.wait_until(saved).taken);
}

TEST_CASE("a newer save ends a compile that has just begun, and not the next one") {
    const std::shared_ptr<RunsOn> on = cpu();
    const std::string unique = "// " + std::to_string(fresh_seed()) + "\n";
    Bench bench(on, adding(0, unique));
    auto slow = std::make_unique<SlowCompiler>(std::move(on->compiler), milliseconds(500));
    const std::atomic<int>& begun = slow->begun;
    on->compiler = std::move(slow);
    Rebuilder rebuilder(on, false);
    rebuilder.use(bench.env().programs().recipe());
    const auto save = [&](int by) {
        rebuilder.compile({{{bench.source(), adding(by, unique).text()}}, {}});
    };
    const auto wait = [](const auto& good) {
        while (!good()) std::this_thread::sleep_for(milliseconds(1));
    };
    const auto taken = [&] {
        wait([&] { return rebuilder.ready(); });
        return rebuilder.take()->source.files.front().text;
    };
    save(1);
    wait([&] { return begun == 1; });
    save(2);
    wait([&] { return begun == 2; });
    save(3);
    CHECK(taken() == adding(2, unique).text());
    CHECK(taken() == adding(3, unique).text());
}
