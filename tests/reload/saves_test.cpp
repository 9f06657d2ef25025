#include "engine/base/npy.h"
#include "engine/base/seconds_since.h"
#include "tests/reload/bench.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>
#include <fstream>
#include <malloc.h>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

namespace {

#ifdef NACELLE_SANITIZE
constexpr int many = 20;
constexpr bool sanitized = true;
#else
constexpr int many = 120;
constexpr bool sanitized = false;
#endif

// The save's version: each half has 8 good ones of its own, again and again, since what was compiled before is
// loaded as anew as what was not.
int version_of(int save) { return save % 10 + (save > many / 2 ? 100 : 0); }

Author adding(int by) { return {.step = "s.value = " + std::to_string(by) + "; ++s.steps;"}; }

// What of this process is in use, in bytes, wherever the system keeps it: a busy one puts it on a disk.
struct InUse {
    size_t allocated = 0, libraries = 0;
};
InUse in_use() {
    const auto heap = ::mallinfo2();
    InUse use{.allocated = heap.uordblks + heap.hblkhd};
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (!contains(line, ".so")) continue;
        const size_t dash = line.find('-');
        use.libraries += std::stoull(line.substr(dash + 1), nullptr, 16) -
                         std::stoull(line.substr(0, dash), nullptr, 16);
    }
    return use;
}

void many_saves(const std::shared_ptr<RunsOn>& on) {
    Bench bench(on, adding(0));
    uint64_t good = 1;
    int running = 0;
    InUse warm;
    // Half of them warm up what grows to its size once: the allocator, the loader's tables.
    for (int i = 1; i <= many; ++i) {
        CAPTURE(i);
        const bool broken = i % 5 == 0;
        Author author = adding(version_of(i));
        if (broken) author.step += " s.nowhere = 1;";
        const Reload reload = bench.save_and_wait(author);
        REQUIRE_MESSAGE(reload.taken == !broken, reload.why);
        if (broken) CHECK(contains(reload.why, "nowhere"));
        else running = version_of(i), ++good;
        CHECK(reload.version == good);
        const double steps = bench.first("state.steps");
        CHECK(steps + 1 == double(bench.env().tick()));
        bench.env().step_at_random();
        CHECK(numbers(bench.env(), "state.value") == std::vector<double>(64, running));
        if (i == many / 2) warm = in_use();
    }
    const InUse now = in_use();
    MESSAGE("over the last ", many / 2, " saves: from ", warm.allocated, " to ", now.allocated,
            " bytes allocated, from ", warm.libraries, " to ", now.libraries, " of libraries");
    if (sanitized) return;
    // A GPU's driver has up to 1.4 MB more or less from one save to another, and no more after 240 than after 120 of them; a
    // version's code that stays would be 3 MB.
    CHECK(now.allocated < warm.allocated + (on->cuda() ? 2'500'000 : 20'000));
    // The code that runs may be a draft or not.
    CHECK(now.libraries < warm.libraries + 100000);
}

void times(const std::shared_ptr<RunsOn>& on, int saves) {
    Bench bench(on);
    const auto unique = std::to_string(fresh_seed());
    std::vector<double> seconds, besides;
    for (int i = 0; i < saves; ++i) {
        Author author = adding(i);
        author.before = "// " + unique + "\n";    // nothing comes from the cache
        const Reload reload = bench.save_and_wait(author);
        REQUIRE_MESSAGE(reload.taken, reload.why);
        bench.env().step_at_random();
        bench.env().on().stream->synchronize();
        seconds.push_back(reload.seconds_since_saved());
        besides.push_back(seconds.back() - reload.compile_seconds);
    }
    std::sort(seconds.begin(), seconds.end());
    std::sort(besides.begin(), besides.end());
    MESSAGE("from a save to the end of the first step of the new code: median ",
            seconds[seconds.size() / 2], " s, maximum ", seconds.back(),
            " s; besides the compiler's time: median ", besides[besides.size() / 2], " s, maximum ",
            besides.back(), " s");
}

}

TEST_CASE("many saves in a row, every fifth broken, lose no state and leak nothing" *
          test::thorough()) {
    many_saves(cpu());
}

TEST_CASE("many saves in a row on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    many_saves(on);
}

TEST_CASE("the time from a save to its first step is told") {
    if (sanitized) NACELLE_SKIP("sanitized code says nothing about time");
    times(cpu(), 5);
    std::shared_ptr<RunsOn> on;
    if (complaint([&] { on = open("cuda"); }).empty()) times(on, 50);
}

TEST_CASE("a broken save keeps the running version, and a good one after it runs") {
    Bench bench(cpu(), adding(1));
    const Reload broken = bench.save_and_wait({.step = "s.value = nothing;"});
    CHECK(!broken.taken);
    const std::string text = bench.said(broken);
    INFO(text);
    // The author's own file is named, though a copy was compiled.
    CHECK(text.starts_with(bench.source().string() + ":"));
    CHECK(contains(text, "nothing"));
    CHECK(text.ends_with("\n  Counter was not reloaded; version 1 keeps running."));
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 1);
    const Reload good = bench.save_and_wait(adding(2));
    REQUIRE_MESSAGE(good.taken, good.why);
    CHECK(good.version == 2);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 2);
}

TEST_CASE("of saves faster than the compiler the last one runs") {
    Bench bench(cpu(), adding(1));
    const std::string unique = "// " + std::to_string(fresh_seed()) + "\n";
    for (int i = 2; i < 12; ++i) {
        Author author = adding(i);
        author.before = unique;
        bench.save(author);
        bench.env().step_at_random();
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    const Reload reload = bench.wait_until(11);
    CHECK(reload.taken);
    CHECK(reload.version < 11);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    CHECK(!bench.reloader().take());
}

TEST_CASE("a save that is taken back while it is compiled leaves what was there") {
    Bench bench(cpu(), adding(1));
    Author slow = adding(2);
    slow.before = "// " + std::to_string(fresh_seed()) + "\n";
    bench.save(slow);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));    // it is being compiled
    const auto began = std::chrono::steady_clock::now();
    bench.save(adding(3));
    bench.save(slow);
    // On a busy machine it may be seen between both.
    const bool at_once = seconds_since(began) < 0.01;
    const Reload reload = bench.wait_until(2);
    REQUIRE_MESSAGE(reload.taken, reload.why);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::optional<Reload> more = bench.reloader().take();
    if (at_once) CHECK(!more);
}

TEST_CASE(
    "a program that is begun is of the version that runs, though the file is saved meanwhile") {
    Bench bench(cpu(), adding(1));
    const uint64_t layout = bench.env().schema().header().layout;
    for (const int pause : {0, 30, 150}) {
        CAPTURE(pause);
        const std::string unique = "// " + std::to_string(fresh_seed()) + "\n";
        PendingProgram pending = bench.env().code().begin(
            {.instantiation =
                 unique + "#include <nacelle/programs/evaluation.h>\nNACELLE_EVALUATION()\n",
             .headers = {},
             .defines = {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
        bench.save({.before = unique, .state = "double other; float value; int steps;"});
        const Program& program = bench.env().programs().add(std::move(pending));
        CHECK(program.schema().header().layout == layout);
        bench.env().programs().release(program);
        bench.save(adding(1));
    }
}

TEST_CASE("a program is begun though its file is away") {
    Bench bench(cpu(), adding(1));
    fs::rename(bench.source(), bench.folder().path() / "elsewhere.cu");
    CHECK_NOTHROW(bench.env().programs().add(
        {.instantiation = "// " + std::to_string(fresh_seed()) +
                          "\n#include <nacelle/programs/evaluation.h>\nNACELLE_EVALUATION()\n",
         .headers = {},
         .defines = {}}));
}

TEST_CASE("a header that the file includes is a part of it") {
    const Author author{.before = "#include \"numbers.h\"\n",
                        .step = "s.value = number; ++s.steps;"};
    const Folder folder;
    folder.write("numbers.h", "constexpr float number = 1;\n");
    const fs::path source = folder.write("counter.cu", author.text());
    auto env = std::make_shared<Environment>(
        cpu(), settings_of({{"source", source.string()}, {"count", 8}}));
    Reloader reloader(env, {});
    const auto wait = [&] {
        for (int i = 0; i < 60000; ++i) {
            if (const auto found = reloader.take()) return *found;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        throw std::runtime_error("nothing became of a save");
    };
    const auto value = [&] {
        env->step_at_random();
        return numbers(*env, "state.value").front();
    };
    CHECK(value() == 1);
    folder.write("numbers.h", "constexpr float number = 2;\n");
    CHECK(wait().taken);
    CHECK(value() == 2);
    // The header is gone, for longer than a moment: that is a broken version, until it is back.
    fs::remove(folder.path() / "numbers.h");
    const Reload gone = wait();
    CHECK(!gone.taken);
    CHECK(contains(gone.why, "numbers.h"));
    CHECK(value() == 2);
    folder.write("numbers.h", "constexpr float number = 3;\n");
    CHECK(wait().taken);
    CHECK(value() == 3);
}

TEST_CASE("constants of the file and of the configuration are those of the new version") {
    const Author author{.before = "",
                        .step = "s.value = nacelle::constant(\"amount\", 3); ++s.steps;"};
    Bench bench(cpu(), author, {{"constants", {{"amount", 5}}}});
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 5);
    REQUIRE(bench
                .save_and_wait({.step = "s.value = 100 + nacelle::constant(\"amount\", 3) + "
                                        "nacelle::constant(\"more\", 7); ++s.steps;"})
                .taken);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 112);
    const Reload gone = bench.save_and_wait({.step = "s.value = 1; ++s.steps;"});
    CHECK(!gone.taken);
    CHECK(contains(gone.why, "env.constants.amount: counter.cu has no constant 'amount'"));
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 112);
}

TEST_CASE("drawn parameters stay drawn, and a table keeps its data") {
    Author author{.params = "float by = 1; nacelle::Table<float, 3> table;",
                  .reset = "s.value = p.by; s.steps = 0;",
                  .step = "s.value = p.by + 100 * p.table(1); ++s.steps;"};
    NpyArray data{.dtype = "f32", .shape = {3}, .data = std::vector<std::byte>(12)};
    const float values[] = {1, 2, 3};
    std::memcpy(data.data.data(), values, sizeof values);
    const Folder folder;
    const fs::path source = folder.write("counter.cu", author.text());
    auto env = std::make_shared<Environment>(
        cpu(),
        settings_of({{"source", source.string()},
                     {"count", 8},
                     {"params", {{"by", {{"uniform", {10, 20}}}}}}}),
        [&](Environment& loaded) { loaded.set_table("table", data, "a hook"); });
    Reloader reloader(env, {});
    const auto wait = [&] {
        for (int i = 0; i < 60000; ++i) {
            if (const auto found = reloader.take()) return *found;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        throw std::runtime_error("nothing became of a save");
    };
    const std::vector<double> drawn = numbers(*env, "param.by");
    author.step = "s.value = p.by + 1000 * p.table(1); ++s.steps;";
    folder.write("counter.cu", author.text());
    const Reload reload = wait();
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(numbers(*env, "param.by") == drawn);
    env->step_at_random();
    CHECK(numbers(*env, "state.value")[3] == doctest::Approx(drawn[3] + 2000));
    // A table of another form has no data.
    author.params = "float by = 1; nacelle::Table<int, 3> table;";
    folder.write("counter.cu", author.text());
    const Reload refused = wait();
    CHECK(!refused.taken);
    CHECK(contains(refused.why, "the table i32 [3] of Counter needs data"));
    env->step_at_random();
    CHECK(numbers(*env, "state.value")[3] == doctest::Approx(drawn[3] + 2000));
}
