#include "tests/env/authors.h"
#include "tests/env/parts.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// All that a state and what is seen of it consist of.
std::map<std::string, std::vector<std::byte>> seen(Environment& env) {
    std::map<std::string, std::vector<std::byte>> all;
    for (const NamedArray& array : env.arrays().all()) {
        const bool state = array.role() == Role::state || array.role() == Role::obs ||
                           array.role() == Role::reward;
        if (state || array.name() == "episode.level" || array.name().starts_with("param."))
            all[array.name()] = bytes_of(array);
    }
    return all;
}

void act(Environment& env, int step) {
    for (NamedArray& array : env.arrays().all()) {
        if (array.role() != Role::action) continue;
        std::vector<double> values(array.count());
        for (size_t i = 0; i < values.size(); ++i) values[i] = double((int(i) + step) % 2);
        write_numbers(env, array.name(), values);
    }
}

}

TEST_CASE("a snapshot is gone back to exactly, and what follows from it follows again") {
    for (const char* const name : {"cartpole", "pendulum", "mazes"}) {
        CAPTURE(std::string(name));
        Environment env(cpu(), recommended(name, 70));
        for (int t = 0; t < 3; ++t) env.step_at_random();
        const auto at_save = seen(env);
        env.save_snapshots(first_environments(70));
        CHECK(env.snapshots() == 70);
        const auto run = [&] {
            std::vector<std::map<std::string, std::vector<std::byte>>> steps;
            for (int t = 0; t < 4; ++t) {
                act(env, t);
                env.step();
                steps.push_back(seen(env));
            }
            return steps;
        };
        const auto once = run();
        for (int t = 0; t < 20; ++t) env.step_at_random();
        env.restore_snapshots(first_environments(70), first_environments(70));
        auto restored = seen(env);
        restored["reward"] = at_save.at("reward");    // a reward belongs to its step
        CHECK((restored == at_save));
        CHECK((run() == once));
    }
}

TEST_CASE("a snapshot holds the parameters that its episode was drawn with") {
    EnvSettings settings = recommended("cartpole", 193);
    settings.params["gravity"] = {{"uniform", {8, 12}}};
    Environment env(cpu(1), settings);
    for (int t = 0; t < 20; ++t) env.step_at_random();
    const std::vector<double> drawn = numbers(env, "param.gravity");
    CHECK(drawn[0] != drawn[1]);
    const auto at_save = seen(env);
    env.save_snapshots(first_environments(193));
    for (int t = 0; t < 200; ++t) env.step_at_random();
    CHECK(numbers(env, "param.gravity") != drawn);
    env.restore_snapshots(first_environments(193), first_environments(193));
    auto restored = seen(env);
    restored["reward"] = at_save.at("reward");
    CHECK((restored == at_save));
    // Another environment takes over the episode with its parameters.
    env.restore_snapshots(std::vector<uint32_t>{5}, std::vector<uint32_t>{7});
    CHECK(numbers(env, "param.gravity")[5] == drawn[7]);
}

TEST_CASE("a snapshot may go on in another environment") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 5}}));
    write_numbers(env, "state.value", {10, 11, 12, 13, 14});
    env.save_snapshots(std::vector<uint32_t>{4, 2});
    fill_numbers(env, "state.value", 0);
    env.restore_snapshots(std::vector<uint32_t>{0, 1, 3}, std::vector<uint32_t>{1, 0, 1});
    CHECK(numbers(env, "state.value") == std::vector<double>{12, 14, 0, 12, 0});
    CHECK(numbers(env, "obs") ==
          std::vector<double>{12, 0, 14, 0, numbers(env, "obs")[4], numbers(env, "obs")[5], 12, 0,
                              numbers(env, "obs")[8], numbers(env, "obs")[9]});
}

TEST_CASE("the length and the return of an episode from a snapshot count from there") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 2}}));
    fill_numbers(env, "action.reward", 1);
    for (int t = 0; t < 3; ++t) env.step();
    env.save_snapshots(first_environments(2));
    env.restore_snapshots(first_environments(2), first_environments(2));
    for (int t = 0; t < 3; ++t) env.step();
    CHECK(numbers(env, "truncated") == std::vector<double>{1, 1});    // at step 6 of the episode
    CHECK(numbers(env, "episode.length") == std::vector<double>{3, 3});
    CHECK(numbers(env, "episode.return") == std::vector<double>{3, 3});
}

TEST_CASE("resets start from snapshots as often as they are told to, each snapshot alike") {
    const Folder folder;
    Environment env(
        cpu(), settings_of({{"source", folder.write("signals.cu", signals)}, {"count", 4000}}));
    std::vector<double> marks(4000);
    for (size_t i = 0; i < marks.size(); ++i) marks[i] = 1000 + double(i);
    write_numbers(env, "state.value", marks);
    env.save_snapshots(first_environments(4));
    fill_numbers(env, "action.flags", 1);
    const auto shares = [&](double chance) {
        env.set_snapshot_chance(chance);
        env.step();
        std::map<int, int> counts;
        for (const double value : numbers(env, "state.value"))
            ++counts[value >= 1000 ? int(value) : 0];
        return counts;
    };
    CHECK(shares(0)[0] == 4000);
    CHECK(shares(1)[0] == 0);
    std::map<int, int> some = shares(0.25);
    CHECK(some[0] > 2880);    // 3,000 and four deviations of 27
    CHECK(some[0] < 3120);
    for (int mark = 1000; mark < 1004; ++mark) {
        CHECK(some[mark] > 185);    // 250
        CHECK(some[mark] < 315);
    }
    CHECK(some.size() == 5);
}

TEST_CASE("snapshots that do not exist are refused") {
    Environment env(cpu(), recommended("cartpole", 8));
    CHECK(contains(
        complaint([&] { env.restore_snapshots(first_environments(1), first_environments(1)); }),
        "there is no snapshot 0"));
    CHECK(contains(
        complaint([&] { env.restore_snapshots(first_environments(1), first_environments(1)); }),
        "none was saved"));
    CHECK(contains(complaint([&] { env.set_snapshot_chance(0.5); }), "no snapshot was saved"));
    CHECK(contains(complaint([&] { env.save_snapshots({}); }), "at least one environment"));
    env.save_snapshots(first_environments(2));
    CHECK(contains(
        complaint([&] { env.restore_snapshots(first_environments(1), std::vector<uint32_t>{2}); }),
        "there are 0 to 1"));
    CHECK(contains(
        complaint([&] { env.restore_snapshots(std::vector<uint32_t>{8}, first_environments(1)); }),
        "there is no environment 8"));
    CHECK(contains(
        complaint([&] { env.restore_snapshots(first_environments(2), first_environments(1)); }),
        "name one snapshot for each"));
    CHECK(contains(complaint([&] { env.save_snapshots(std::vector<uint32_t>{9}); }),
                   "there is no environment 9"));
    CHECK(contains(complaint([&] { env.set_snapshot_chance(1.5); }), "from 0 to 1"));
    CHECK(env.snapshots() == 2);
}
