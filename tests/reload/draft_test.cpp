#include "tests/reload/bench.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A step that no cache has seen.
Author new_text_adding(int by) {
    Author author = adding(by);
    author.before = "// " + std::to_string(fresh_seed()) + "\n";
    return author;
}

// Steps until the code of the environment is another one without a word, or a minute is over.
bool changes_in_silence(Bench& bench) {
    const uint64_t generation = bench.env().stepwise().generation();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        bench.env().step_at_random();
        if (bench.reloader().take()) return false;
        if (bench.env().stepwise().generation() != generation) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

}

TEST_CASE("a save runs as a draft, and in full a moment later without a word or a lost step") {
    Bench bench(cpu(), new_text_adding(1));
    const Reload reload = bench.save_and_wait(new_text_adding(2));
    REQUIRE_MESSAGE(reload.taken, reload.why);
    CHECK(reload.version == 2);
    REQUIRE(changes_in_silence(bench));
    CHECK(bench.env().version() == 2);
    CHECK(bench.first("state.steps") + 1 == double(bench.env().tick()));
    bench.env().step_at_random();
    CHECK(numbers(bench.env(), "state.value") == std::vector<double>(64, 2));
    // What is there in full already needs no draft.
    CHECK(!bench.reloader().ready());
}

TEST_CASE("where a full build cannot run in its draft's place, the draft runs on") {
    int rebuilt = 0;
    std::string told;
    const std::shared_ptr<RunsOn> on = cpu();
    on->log = Log([&](LogLevel, const std::string& text) { told += text; });
    // The first call is for the draft, the second for the full build, the third takes that back.
    ReloadUser user{.rebuilt =
                        [&] {
                            if (++rebuilt == 2) throw std::runtime_error("it is too large");
                        },
                    .restart = nullptr};
    Bench bench(on, new_text_adding(1), Json::object(), {}, 64, std::move(user));
    REQUIRE(bench.save_and_wait(new_text_adding(2)).taken);
    REQUIRE(changes_in_silence(bench));
    CHECK(rebuilt == 3);
    CHECK(told == "it is too large; the version runs on as the draft that it began as");
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 2);
    REQUIRE(bench.save_and_wait(new_text_adding(3)).taken);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 3);
}

TEST_CASE("a version that was compiled in full before comes back as it was") {
    const Author first = new_text_adding(1);
    Bench bench(cpu(), first);
    REQUIRE(bench.save_and_wait(new_text_adding(2)).taken);
    REQUIRE(changes_in_silence(bench));
    REQUIRE(bench.save_and_wait(first).taken);
    const uint64_t generation = bench.env().stepwise().generation();
    for (int i = 0; i < 300; ++i) {
        CHECK(!bench.reloader().take());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(bench.env().stepwise().generation() == generation);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 1);
}

TEST_CASE("a save behind a draft is a version of its own") {
    Bench bench(cpu(), new_text_adding(1));
    for (int i = 2; i < 6; ++i) {
        const Reload reload = bench.save_and_wait(new_text_adding(i));
        REQUIRE_MESSAGE(reload.taken, reload.why);
        CHECK(reload.version == uint64_t(i));
        bench.env().step_at_random();
        CHECK(bench.first("state.value") == i);
    }
    const Reload broken = bench.save_and_wait({.step = "s.value = nothing;"});
    CHECK(!broken.taken);
    CHECK(broken.version == 5);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 5);
}

TEST_CASE("a draft that is refused is not finished") {
    Bench bench(cpu(), new_text_adding(1));
    Author endless = new_text_adding(2);
    endless.reset = "s.value = 1.0f / 0.0f; s.steps = 0;";
    const Reload refused = bench.save_and_wait(endless);
    REQUIRE(!refused.taken);
    const uint64_t generation = bench.env().stepwise().generation();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end && !bench.reloader().ready())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(bench.reloader().ready());
    CHECK(!bench.reloader().take());
    CHECK(bench.env().stepwise().generation() == generation);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 1);
}

TEST_CASE("a draft behind which broken versions are saved is finished all the same") {
    Bench bench(cpu(), new_text_adding(1));
    REQUIRE(bench.save_and_wait(new_text_adding(2)).taken);
    // At once, so that the full build is given up; and another while that is taken up again.
    for (int i = 0; i < 2; ++i) {
        Author broken = new_text_adding(3);
        broken.step = "s.value = nothing;";
        CHECK(!bench.save_and_wait(broken).taken);
    }
    REQUIRE(changes_in_silence(bench));
    CHECK(bench.env().version() == 2);
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 2);
    // One that compiles and is refused leaves the running draft to be finished, and not its own.
    REQUIRE(bench.save_and_wait(new_text_adding(4)).taken);
    Author endless = new_text_adding(5);
    endless.reset = "s.value = 1.0f / 0.0f; s.steps = 0;";
    REQUIRE(!bench.save_and_wait(endless).taken);
    REQUIRE(changes_in_silence(bench));
    bench.env().step_at_random();
    CHECK(bench.first("state.value") == 4);
}

TEST_CASE("a draft leaves the bytes of the full build, in an environment of each kind") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build has it: what is compared is not instrumented");
#endif
    const CompiledBy users_flags("");    // the scripts compile both at one level
    // A cache that has nothing in full, or there would be no drafts.
    const auto drafts = open_backend({.backend = "cpu",
                                      .threads = 2,
                                      .cache = cache_place().string() + "-drafts",
                                      .env_folders = {env_folder}});
    for (const std::string& name : kinds()) {
        CAPTURE(name);
        Json env = load_json(env_folder / (name + ".json")).value("env", Json::object());
        env["source"] = (env_folder / (name + ".cu")).string();
        env["count"] = 40;
        const auto on = cpu();
        Environment full(on, settings_of(env)), other(on, settings_of(env));
        const Binary draft =
            compile_env(drafts, other.code().source, {.draft = true}).stepwise.get();
        REQUIRE(draft.draft);
        const std::unique_ptr<Stepwise> before = other.run_instead(draft);
        const auto both = [&](auto&& act) {
            act(full), act(other);
            CHECK(first_difference(full, other) == "");
        };
        both([](Environment& one) {
            for (int i = 0; i < 100; ++i) one.step_at_random();
        });
        both([](Environment& one) {
            for (int i = 0; i < 20; ++i) one.step();
        });
        both([](Environment& one) { one.reset(); });
        both([](Environment& one) {
            for (int i = 0; i < 100; ++i) one.step_at_random();
        });
        const Totals sums = full.take_totals(), same = other.take_totals();
        CHECK(sums.episodes == same.episodes);
        CHECK(sums.mean_return == same.mean_return);
    }
}
