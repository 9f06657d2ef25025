#include "tests/env/team_authors.h"
#include "tests/sdk/emulated.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/thorough.h"

#include <cmath>

// Questions, bins and the nearest of a team against plain loops over the same members.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// What a test gives the members of all environments, and what it expects of them.
struct Members {
    std::vector<double> value, rank, key, flag, bin, begin, end;
};

Members random_members(Dice& dice, size_t rows, int bins) {
    Members members;
    const int form = dice.below(4);    // all in one bin, few bins, all bins, one that stays empty
    const int only = dice.below(bins), flags = dice.below(4);
    for (size_t i = 0; i < rows; ++i) {
        members.value.push_back(dice.uniform(-100, 100) * (dice.chance(0.1) ? 1e6f : 1e-3f));
        const int kind = dice.below(8);
        members.rank.push_back(kind == 0   ? std::nan("")
                               : kind == 1 ? -HUGE_VAL
                               : kind == 2 ? -0.0
                               : kind == 3 ? 0.0
                                           : double(dice.below(5) - 3));
        members.key.push_back(0.5 * dice.below(20));
        members.flag.push_back(flags == 0 ? 0 : flags == 1 ? 1 : dice.chance(0.2));
        const int bin = form == 0   ? only
                        : form == 1 ? (only + dice.below(2)) % bins
                                    : dice.below(bins);
        members.bin.push_back(form == 3 && bin == only ? (bin + 1) % bins : bin);
        const int begin = dice.below(bins);
        members.begin.push_back(begin);
        members.end.push_back(begin + 1 + dice.below(bins - begin));
    }
    return members;
}
void give(Environment& env, const Members& members) {
    write_numbers(env, "agent.value", members.value);
    write_numbers(env, "agent.rank", members.rank);
    write_numbers(env, "agent.key", members.key);
    write_numbers(env, "agent.flag", members.flag);
    write_numbers(env, "agent.bin", members.bin);
    write_numbers(env, "agent.begin", members.begin);
    write_numbers(env, "agent.end", members.end);
}

// Neighbours first, strips of 32, then the strips likewise: the order that the documentation names.
float tree_sum(std::vector<float> parts) {
    while (parts.size() > 1) {
        std::vector<float> strips;
        for (size_t begin = 0; begin < parts.size(); begin += 32) {
            float strip[32];
            for (size_t i = 0; i < 32; ++i)
                strip[i] = begin + i < parts.size() ? parts[begin + i] : -0.0f;
            for (int width = 1; width < 32; width *= 2)
                for (int i = 0; i < 32; i += 2 * width) strip[i] += strip[i + width];
            strips.push_back(strip[0]);
        }
        parts = strips;
    }
    return parts[0];
}
uint32_t hash_of_bins(const Members& members, size_t first, size_t agents, int begin, int end) {
    uint32_t hash = 17;
    for (int bin = begin; bin < end; ++bin)
        for (size_t i = 0; i < agents; ++i)
            if (int(members.bin[first + i]) == bin) hash = hash * 31 + uint32_t(i) + 1;
    return hash;
}
// NaN lies below all numbers, and the first of equals is best.
int best_of(const Members& members, size_t first, size_t agents) {
    int best = -1;
    for (size_t i = 0; i < agents; ++i) {
        const double rank = members.rank[first + i];
        const bool better = best < 0 || (std::isnan(members.rank[first + size_t(best)])
                                             ? !std::isnan(rank)
                                             : rank > members.rank[first + size_t(best)]);
        if (better) best = int(i);
    }
    return best;
}

void check_answers(Environment& env, const Members& members) {
    const size_t agents = env.schema().header().agents, envs = env.count(), rows = agents * envs;
    const std::vector<float> sum = env.arrays()["state.sum"].host<float>(),
                             near_key = env.arrays()["agent.near_key"].host<float>();
    const std::vector<double> count = numbers(env, "state.count"), any = numbers(env, "state.any"),
                              none = numbers(env, "state.none"),
                              first = numbers(env, "state.first"),
                              best = numbers(env, "state.best"), over = numbers(env, "state.over"),
                              own = numbers(env, "agent.own_bin"),
                              run = numbers(env, "agent.run_of_bins"),
                              spots = numbers(env, "agent.run_of_spots"),
                              near = numbers(env, "agent.near"),
                              near_count = numbers(env, "agent.near_count");
    for (size_t e = 0; e < envs; ++e) {
        CAPTURE(e);
        const size_t at = e * agents;
        std::vector<float> values;
        int flags = 0, lowest = -1;
        for (size_t i = 0; i < agents; ++i) {
            values.push_back(float(members.value[at + i]));
            if (members.flag[at + i] == 0) continue;
            if (lowest < 0) lowest = int(i);
            ++flags;
        }
        const float wanted = tree_sum(values);
        CHECK(std::memcmp(&wanted, &sum[e], sizeof wanted) == 0);
        CHECK(count[e] == flags);
        CHECK(any[e] == (flags > 0));
        CHECK(none[e] == 0);
        CHECK(first[e] == lowest);
        CHECK(best[e] == best_of(members, at, agents));
        for (size_t i = 0; i < 16; ++i) CHECK(over[i * envs + e] == float(i) * wanted);
        for (size_t i = 0; i < agents; ++i) {
            CAPTURE(i);
            const size_t row = at + i;
            const int bin = int(members.bin[row]);
            REQUIRE(own[row] == hash_of_bins(members, at, agents, bin, bin + 1));
            REQUIRE(run[row] == hash_of_bins(members, at, agents, int(members.begin[row]),
                                             int(members.end[row])));
            REQUIRE(spots[row] == run[row]);
            std::vector<std::pair<float, int>> others;
            for (size_t k = 0; k < agents; ++k)
                if (k != i && members.flag[at + k] == 0)
                    others.emplace_back(
                        std::fabs(float(members.key[at + k]) - float(members.key[row])), int(k));
            std::sort(others.begin(), others.end());
            others.resize(std::min<size_t>(others.size(), 3));
            REQUIRE(near_count[row] == double(others.size()));
            for (size_t k = 0; k < 3; ++k) {
                REQUIRE(near[k * rows + row] == (k < others.size() ? others[k].second : -1));
                if (k < others.size()) REQUIRE(near_key[k * rows + row] == others[k].first);
            }
        }
    }
}

EnvSettings asks_settings(const std::filesystem::path& source, int agents, int bins,
                          uint32_t count) {
    return settings_of({{"source", source},
                        {"count", count},
                        {"constants", {{"agents", agents}, {"bins", bins}}}});
}

// Some are in no bin, others in each step; the rest meet all that are in one.
constexpr const char* strays = R"(#include <nacelle/env.h>
struct Strays {
    static constexpr int agents = 50, bins = 6;
    struct Params { float unused = 0; };
    struct State { int steps; };
    struct Agent { float mine; uint32_t met; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float mine, id, steps; };
    using Team = nacelle::Team<Strays>;
    using Member = nacelle::Member<Strays>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.steps = 0; });
        team.each([](Member& me, nacelle::Rng& rng) { me.mine = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.once([](State& s) { ++s.steps; });
        const int some = 1 + team.state().steps % 3;
        team.sort([&](const Member& m) { return m.id % (2 * some) == 1 ? -1 : int(m.mine * 5.99f); });
        team.each([&](Member& me) {
            me.met = 17;
            team.bin(0, bins, [&](const Member& other) { me.met = me.met * 31 + uint32_t(other.id) + 1; });
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team& team, const Member& me, const Params&) {
        return {me.mine, float(me.id), float(team.state().steps)};
    }
};
NACELLE_ENV(Strays)
)";

}

TEST_CASE("questions, bins and the nearest are those of plain loops, for 1 to 1,000 agents") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Folder folder;
    const std::filesystem::path source = folder.write("asks.cu", asks);
    struct Size {
        int agents, bins;
    };
    const std::vector<Size> sizes = {{1, 3}, {32, 1}, {33, 8}, {105, 300}, {1100, 60}};
    for (const Size& size : few_if_sanitized(sizes, {0, 2, 3})) {
        const int agents = size.agents, bins = size.bins;
        CAPTURE(agents);
        Environment env(quick_cpu(), asks_settings(source, agents, bins, 3));
        for (int trial = 0; trial < 8; ++trial) {
            const Members members = random_members(dice, size_t(3 * agents), bins);
            give(env, members);
            env.step();
            check_answers(env, members);
        }
    }
}

TEST_CASE("the answers have the same bits for any number of a GPU's threads" * test::thorough()) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Folder folder;
    const std::filesystem::path source = folder.write("asks.cu", asks);
    struct Size {
        int agents, bins, lanes;
    };
    // Threads without an agent, with one, with several; of one warp and of more.
    const std::vector<Size> all = {{1, 3, 32}, {33, 8, 32}, {105, 300, 128}, {1100, 60, 64}};
    for (const Size& size : few_if_sanitized(all, {1})) {
        const int agents = size.agents, bins = size.bins, lanes = size.lanes;
        CAPTURE(agents);
        CAPTURE(lanes);
        const EnvSettings settings = asks_settings(source, agents, bins, 2);
        Environment plain(quick_cpu(), settings), emulated = on_threads(settings, lanes),
                                                  moved = moving(settings, lanes);
        if (agents > 32) CHECK(emulated.schema().header().env_threads == uint32_t(lanes));
        for (int trial = 0; trial < 3; ++trial) {
            const Members members = random_members(dice, size_t(2 * agents), bins);
            for (Environment* const env : {&plain, &emulated, &moved}) give(*env, members);
            for (Environment* const env : {&plain, &emulated, &moved}) env->step();
            for (Environment* const env : {&emulated, &moved}) {
                check_answers(*env, members);
                REQUIRE(first_difference(plain, *env) == "");
            }
        }
    }
}

TEST_CASE("a row that is not finite is named by a GPU's code wherever it was gathered") {
    const Folder folder;
    const std::filesystem::path source = folder.write("asks.cu", asks);
    const int agents = 65;
    const auto all = few_if_sanitized<int>({0, 1, 30, 31, 32, 57, 58, 60, 62, 63, 64}, {9});
    for (const int agent : all) {
        CAPTURE(agent);
        Environment env = on_threads(asks_settings(source, agents, 8, 1), 64);
        std::vector<double> value(agents, 1);
        value[size_t(agent)] = 3e38;    // twice that is too much
        write_numbers(env, "agent.value", value);
        env.step();
        const std::string words = complaint([&] { env.check_finite(); });
        CHECK_MESSAGE(contains(words, "obs of agent " + std::to_string(agent) +
                                          " of environment 0 is infinite"),
                      words);
    }
}

TEST_CASE("members that are in no bin stay who and where they are") {
    const Folder folder;
    const EnvSettings settings =
        settings_of({{"source", folder.write("strays.cu", strays)}, {"count", 3}});
    Environment plain(quick_cpu(), settings), moved = moving(settings, 32);
    for (int step = 0; step < 12; ++step) {
        plain.step();
        moved.step();
        REQUIRE(first_difference(plain, moved) == "");
    }
}

// A version of before had more of them, and its arrays are kept.
TEST_CASE("stored bins that there are not are none") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Folder folder;
    const EnvSettings settings = asks_settings(folder.write("asks.cu", asks), 65, 8, 2);
    const auto holds = [&](Environment env) {
        for (int step = 0; step < 3; ++step) {
            const Members members = random_members(dice, 2 * 65, 8);
            give(env, members);
            fill_numbers(env, "bin", 32767);
            env.step();
            check_answers(env, members);
        }
    };
    holds(Environment(quick_cpu(), settings));
    holds(moving(settings, 64));
}
