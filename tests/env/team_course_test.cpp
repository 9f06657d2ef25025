#include "tests/env/parts.h"
#include "tests/env/team_authors.h"
#include "tests/sdk/emulated.h"
#include "tests/sdk/team_everything.h"
#include "tests/support/random.h"

#include <cstring>
#include <doctest/doctest.h>
#include <map>

// A team's course does not depend on the batch and the threads that it is in, and may be gone back to.
using namespace nacelle;
using namespace nacelle::test;

namespace {

Json chase_json(const Folder& folder, uint32_t count) {
    return {{"source", folder.write("chase.cu", team_everything)},
            {"count", count},
            {"params", {{"speed", {{"uniform", {0.05, 0.2}}}}}},
            {"constants", {{"hunters", 3}, {"preys", 37}}}};
}

// Actions that depend on the step alone.
void act_at_random(Environment& env, uint64_t seed) {
    Dice dice(seed);
    for (NamedArray& array : env.arrays().all()) {
        if (array.role() != Role::action) continue;
        const Field& field = *env.schema().find(array.name());
        std::vector<double> values(array.count());
        for (double& value : values)
            value = field.kind == Kind::discrete ? dice.below(field.choices)
                                                 : dice.uniform(field.low, field.high);
        write_numbers(env, array.name(), values);
    }
}

using Seen = std::map<std::string, std::vector<std::byte>>;
// All that a team and what is seen of it consist of.
Seen all_seen(Environment& env) {
    Seen all;
    for (const NamedArray& array : env.arrays().all())
        if (array.role() == Role::state || array.role() == Role::agent ||
            array.role() == Role::obs || array.role() == Role::mask || array.role() == Role::turn ||
            array.role() == Role::bin || array.role() == Role::global ||
            array.role() == Role::param || array.name() == "episode.level")
            all[array.name()] = bytes_of(array);
    return all;
}
std::string difference(const Seen& a, const Seen& b) {
    for (const auto& [name, bytes] : a)
        if (b.at(name) != bytes) return name;
    return {};
}

// A game without chance in its steps, so that it can be played again: those who are on a cell of the
// torus that the last sort found crowded go out, one after the other.
constexpr const char* crowd = R"(#include <nacelle/env.h>
struct Crowd {
    static constexpr int agents = 45, bins = 12;
    using Grid = nacelle::Torus<4, 3>;
    struct Params { float step = 0.05f; };
    struct State { int gone; };
    struct Agent { float x, y; bool here; };
    struct Action { nacelle::Continuous<> right, up; };
    struct Obs { float x, y, friends, step; };
    using Team = nacelle::Team<Crowd>;
    using Member = nacelle::Member<Crowd>;
    using All = nacelle::detail::Sole<Crowd>;

    static int cell(const Member& m) { return Grid::cell(m.x, m.y); }
    static float inside(float v) { return v - nacelle::floor(v); }
    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.gone = 0; });
        team.each([](Member& me, nacelle::Rng& rng) {
            me.x = rng.uniform();
            me.y = rng.uniform();
            me.here = true;
        });
        team.sort(cell);
    }
    // The bins are those of the step before: they must be part of a snapshot.
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            int friends = 0, lowest = me.id;
            team.bin<All>(cell(me), [&](const Member& m) {
                friends += m.here;
                lowest = m.here ? nacelle::min(lowest, int(m.id)) : lowest;
            });
            me.reward = float(friends);
        });
        const int leaves = team.best([&](const Member& m) { return m.here ? m.reward : -1.0f; });
        team.each([&](Member& me) {
            if (me.id == leaves && me.reward > 3.0f) me.here = false;
            me.x = inside(me.x + p.step * me.action.right);
            me.y = inside(me.y + p.step * me.action.up);
        });
        team.sort(cell);
        const int gone = agents - team.count([](const Member& m) { return m.here; });
        team.once([&](State& s) { s.gone = gone; });
        return nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team&, const Member& me, const Params&) {
        return me.here ? nacelle::Turn::acts : nacelle::Turn::out;
    }
    static Obs observe(const Team& team, const Member& me, const Params&) {
        int friends = 0;
        team.bin<All>(cell(me), [&](const Member& m) { friends += m.here; });
        return {me.x, me.y, float(friends), float(team.episode().step)};
    }
};
NACELLE_ENV(Crowd)
)";

}

TEST_CASE("a batch of teams that is split in two does what the whole does") {
    const Folder folder;
    EnvSettings settings = settings_of(chase_json(folder, 30));
    Environment whole(quick_cpu(), settings);
    settings.count = 11;
    Environment low(quick_cpu(), settings);
    settings.count = 19;
    settings.first_env = 11;
    Environment high(quick_cpu(), settings);
    for (int t = 0; t < 40; ++t)
        for (Environment* env : {&whole, &low, &high}) env->step_at_random();
    for (const NamedArray& array : whole.arrays().all()) {
        const std::string name = array.name();
        CAPTURE(name);
        CHECK((part_of(whole, array, 0, 11) == bytes_of(low.arrays()[name])));
        CHECK((part_of(whole, array, 11, 19) == bytes_of(high.arrays()[name])));
    }
    CHECK(whole.take_totals().episodes == low.take_totals().episodes + high.take_totals().episodes);
}

TEST_CASE("the number of the CPU's threads changes nothing for teams") {
    const Folder folder;
    Environment one(quick_cpu(), settings_of(chase_json(folder, 50)));
    for (int t = 0; t < 30; ++t) one.step_at_random();
    for (const int threads : {2, 5}) {
        Environment several(quick_cpu(threads), settings_of(chase_json(folder, 50)));
        for (int t = 0; t < 30; ++t) several.step_at_random();
        CHECK(first_difference(one, several) == "");
    }
}

TEST_CASE("no two teams and no two agents start alike, and another seed gives other numbers") {
    const Folder folder;
    const Json json = chase_json(folder, 55);
    Environment env(quick_cpu(), settings_of(json)), other(quick_cpu(), settings_of(json, 2));
    std::vector<double> x = numbers(env, "prey.at.x");
    const std::vector<double> elsewhere = numbers(other, "prey.at.x");
    x.insert(x.end(), elsewhere.begin(), elsewhere.end());
    env.reset();
    const std::vector<double> again = numbers(env, "prey.at.x");
    x.insert(x.end(), again.begin(), again.end());
    std::sort(x.begin(), x.end());
    CHECK(x.end() - std::unique(x.begin(), x.end()) <
          12);    // of 6,000 draws of 24 bits 1 is met twice
}

TEST_CASE("parameters that vary are drawn once for each team and episode") {
    const Folder folder;
    Environment env(quick_cpu(), settings_of(chase_json(folder, 200)));
    std::vector<double> before = numbers(env, "param.speed");
    for (const double speed : before) {
        CHECK(speed >= 0.05);
        CHECK(speed < 0.2 + 1e-6);
    }
    for (int t = 0; t < 20; ++t) {
        env.step_at_random();
        const std::vector<double> now = numbers(env, "param.speed"),
                                  terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated");
        for (size_t e = 0; e < now.size(); ++e)
            CHECK((now[e] != before[e]) == (terminated[e] + truncated[e] > 0));
        before = now;
    }
}

TEST_CASE("a snapshot of a team has its bins and its turns, and what follows follows again") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("crowd.cu", crowd)}, {"count", 6}}));
    for (uint64_t t = 0; t < 7; ++t) {
        act_at_random(env, seed + t);
        env.step();
    }
    const std::vector<double> gone = numbers(env, "state.gone");
    REQUIRE(*std::max_element(gone.begin(), gone.end()) > 0);
    env.save_snapshots(first_environments(6));
    const Seen at_save = all_seen(env);
    const auto run = [&] {
        std::vector<Seen> steps;
        for (uint64_t t = 0; t < 6; ++t) {
            act_at_random(env, seed + 100 + t);
            env.step();
            steps.push_back(all_seen(env));
            steps.back()["reward"] = bytes_of(env.arrays()["reward"]);
        }
        return steps;
    };
    const std::vector<Seen> once = run();
    for (int t = 0; t < 15; ++t) env.step_at_random();
    env.restore_snapshots(first_environments(6), first_environments(6));
    Seen restored = all_seen(env);
    // Who went out in the very step before the snapshot had its last look then.
    restored["obs"] = at_save.at("obs");
    CHECK(difference(at_save, restored) == "");
    const std::vector<Seen> again = run();
    for (size_t t = 0; t < once.size(); ++t) {
        CAPTURE(t);
        CHECK(difference(once[t], again[t]) == "");
    }
}

TEST_CASE("who is out when a snapshot is restored shows nothing, everybody else what it saw") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("crowd.cu", crowd)}, {"count", 4}}));
    for (uint64_t t = 0; t < 9; ++t) {
        act_at_random(env, t);
        env.step();
    }
    const std::vector<double> before = numbers(env, "obs"), turn = numbers(env, "turn");
    REQUIRE(std::count(turn.begin(), turn.end(), 2.0) > 0);
    env.save_snapshots(first_environments(4));
    for (int t = 0; t < 5; ++t) env.step_at_random();
    env.restore_snapshots(first_environments(4), first_environments(4));
    const std::vector<double> after = numbers(env, "obs");
    for (size_t row = 0; row < turn.size(); ++row)
        for (size_t k = 0; k < 4; ++k)
            CHECK(after[4 * row + k] == (turn[row] == 2 ? 0 : before[4 * row + k]));
}
