#include "tests/reload/bench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <malloc.h>

// Saves in long rows: what they leave in memory, and how long each takes.
using namespace nacelle;
using namespace nacelle::test;

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
    // The least after any of ten saves: a driver has some megabytes more for a moment.
    InUse warm, now;
    const auto keep_least = [](InUse& least) {
        const InUse use = in_use();
        if (least.libraries == 0) least = use;
        least = {std::min(least.allocated, use.allocated),
                 std::min(least.libraries, use.libraries)};
    };
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
        if (i > many / 2 - 10 && i <= many / 2) keep_least(warm);
        if (i > many - 10) keep_least(now);
    }
    MESSAGE("over the last ", many / 2, " saves: from ", warm.allocated, " to ", now.allocated,
            " bytes allocated, from ", warm.libraries, " to ", now.libraries, " of libraries");
    if (sanitized) return;
    // A GPU's driver has no more after 240 than after 120 of them; a version's code that stays would be 3 MB.
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

TEST_CASE("many saves in a row on a GPU" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    many_saves(on);
}

TEST_CASE("the time from a save to its first step is told" * test::on_gpu()) {
    if (sanitized) NACELLE_SKIP("sanitized code says nothing about time");
    times(cpu(), 5);
    std::shared_ptr<RunsOn> on;
    if (complaint([&] { on = open("cuda"); }).empty()) times(on, 50);
}
