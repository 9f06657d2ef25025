#include "engine/base/npy.h"
#include "engine/base/seconds_since.h"
#include "tests/reload/bench.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

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
    const auto wait = [&] { return wait_for_save(reloader); };
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
    const auto wait = [&] { return wait_for_save(reloader); };
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

TEST_CASE("a save that brings in a file of other users is not compiled") {
    Bench bench(cpu());
    const fs::path header = bench.folder().write("depth.h", "int depth;\n");
    fs::permissions(header, fs::perms(0666));
    Author author = adding(5);
    author.before = "#include \"depth.h\"\n";
    const Reload reload = bench.save_and_wait(author);
    CHECK(!reload.taken);
    CHECK(reload.why == header.string() + ": can be written by other users, so that this version "
                                          "is not compiled");
    CHECK(reload.version == 1);
}
