#include "tests/sdk/emulated.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"

#include <nacelle/view.h>

// Large teams lie in memory of their own between launches, in the order of their bins. That memory may save
// work, and must never decide anything: what counts is in the arrays.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr int agents = 70;
constexpr const char* herds = R"(#include <nacelle/env.h>
struct Herds {
    struct Params { float drift = 0.3f; };
    struct State { uint32_t met; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs { float mine, met, other; };
    struct Sheep {
        static constexpr int count = 70, bins = 9;
        float mine;
        uint32_t met;
        bool odd;
        int16_t steps;
    };
    struct Dog {
        static constexpr int count = 5, bins = 7;
        double mine;
        nacelle::Array<uint8_t, 6> seen;
    };
    using Agents = nacelle::Groups<Dog, Sheep>;
    static constexpr int time_limit = 23, sorts = nacelle::constant("sorts", 1);
    using Team = nacelle::Team<Herds>;
    using Follower = nacelle::Member<Herds, Sheep>;
    using Guard = nacelle::Member<Herds, Dog>;

    static void sort(Team& team) {
        team.sort([](const Follower& m) { return int(m.mine * 8.99f); });
        team.sort([](const Guard& m) { return int(m.mine * 6.99); });
    }
    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.met = 0; });
        team.each([](Follower& me, nacelle::Rng& rng) { me.mine = rng.uniform(); me.met = 0; me.odd = false; me.steps = 0; });
        team.each([](Guard& me, nacelle::Rng& rng) {
            me.mine = rng.uniform();
            me.seen.fill(0);
        });
        sort(team);
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        if (sorts == 0) return nacelle::Ending::running;
        team.each([&](Follower& me, nacelle::Rng& rng) {
            const float next = me.mine + p.drift * (me.action.go.value - 1) * rng.uniform();
            me.mine = nacelle::clamp(next, 0.0f, 1.0f);
            me.odd = !me.odd;
            ++me.steps;
        });
        team.each([&](Guard& me, nacelle::Rng& rng) { me.mine = rng.uniform(); });
        if (team.episode().step % 4 == 0) sort(team);       // else the bins of a while ago
        team.each([&](Follower& me) {
            me.met = me.acts ? 17 : 18;
            const int b = int(me.mine * 8.99f);
            team.bin<Sheep>(nacelle::max(b - 1, 0), nacelle::min(b + 2, 9), [&](const Follower& other, nacelle::Spot spot) {
                me.met = me.met * 31 + uint32_t(int(spot)) + uint32_t(other.steps) + (other.odd ? 7u : 0u);
                me.met += uint32_t(team.get<Sheep>(spot).id);
            });
            for (int b = 0; b < 7; ++b)
                team.bin<Dog>(b, [&](const Guard& other) { me.met = me.met * 31 + uint32_t(other.id * 7 + b); });
            me.reward = float(me.met % 100u);
        });
        team.each([&](Guard& me) {
            int k = 0;
            team.bin<Sheep>(0, 9, [&](const Follower& other) { me.seen[k++ % 6] = uint8_t(other.met); });
        });
        const uint32_t most = uint32_t(team.best([](const Follower& m) { return m.mine; }));
        team.once([&](State& s) { s.met = s.met * 31 + most; });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team& team, const Follower& me, const Params&) {
        return {me.mine, float(me.met % 1000u), float(team.get<Dog>(me.id % 5).mine)};
    }
    static Obs observe(const Team& team, const Guard& me, const Params&) {
        return {float(me.mine), float(me.seen[1]), float(team.state().met % 1000u)};
    }
};
NACELLE_ENV(Herds)
)";

std::span<std::byte> workspace(Environment& env) {
    const auto& head = *reinterpret_cast<const ViewHead*>(env.view().data());
    const size_t bytes = env.schema().header().workspace_bytes;
    REQUIRE(bytes > size_t(agents));
    return {static_cast<std::byte*>(head.workspace), bytes * env.count()};
}
using Bytes = std::vector<std::byte>;
Bytes copied(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// Whatever may lie in a memory: nothing yet, what another program left, what was there a while ago, another
// team's, or nearly what should be there.
void disturb(Dice& dice, std::span<std::byte> memory, const Bytes& earlier) {
    const size_t half = memory.size() / 2;
    // Half of the time in the first team's tables, which are small.
    const auto anywhere = [&] {
        return size_t(dice.below(dice.chance(0.7) ? 1000 : int(memory.size())));
    };
    switch (dice.below(7)) {
        case 0: std::fill(memory.begin(), memory.end(), std::byte(0)); break;
        case 1: std::fill(memory.begin(), memory.end(), std::byte(0xff)); break;
        case 2:
            for (std::byte& byte : memory) byte = std::byte(dice.below(256));
            break;
        case 3: std::copy(earlier.begin(), earlier.end(), memory.begin()); break;
        case 4:
            std::swap_ranges(memory.begin(), memory.begin() + ptrdiff_t(half),
                             memory.begin() + ptrdiff_t(half));
            break;
        case 5:    // one bit here, one there
            for (int i = 0; i < 1 + dice.below(8); ++i)
                memory[anywhere()] ^= std::byte(1 << dice.below(8));
            break;
        default:    // two entries of a table, or two halves of a number, in each other's place
            for (int i = 0; i < 1 + dice.below(8); ++i) {
                const size_t at = anywhere() / 4 * 4;
                std::swap_ranges(memory.begin() + ptrdiff_t(at), memory.begin() + ptrdiff_t(at) + 2,
                                 memory.begin() + ptrdiff_t(at) + 2);
            }
    }
}
// What somebody else may do to an environment between two steps.
void meddle(Dice& dice, std::initializer_list<Environment*> envs) {
    const int kind = dice.below(6);
    const uint32_t one = uint32_t(dice.below(2));
    const size_t row = size_t(dice.below(2 * agents));
    const double value = dice.uniform(0, 1), bin = dice.below(11) - 1;
    for (Environment* env : envs) {
        const auto put = [&](const char* array, double number) {
            std::vector<double> all = numbers(*env, array);
            all[row] = number;
            write_numbers(*env, array, all);
        };
        if (kind == 0) put("sheep.mine", value);
        if (kind == 1) put("sheep.odd", value < 0.5);
        if (kind == 2) put("sheep.bin", bin);
        if (kind == 3) env->reset(std::vector<uint32_t>{one});
        if (kind == 4) env->save_snapshots(std::vector<uint32_t>{0, 1});
        if (kind == 5) env->save_snapshots(std::vector<uint32_t>{one});
        if (kind == 5)
            env->restore_snapshots(std::vector<uint32_t>{1 - one}, std::vector<uint32_t>{0});
    }
}

EnvSettings settings(const Folder& folder, int sorts) {
    return settings_of({{"source", folder.write("herds.cu", herds)},
                        {"count", 2},
                        {"constants", {{"sorts", sorts}}}});
}

}

TEST_CASE("whatever lies where large teams step, the arrays count") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Folder folder;
    const auto threads = few_if_sanitized<int>({32, 96}, {0});
    for (const int lanes : threads) {
        CAPTURE(lanes);
        Environment plain(quick_cpu(), settings(folder, 1)),
            moved = moving(settings(folder, 1), lanes);
        Bytes earlier = copied(workspace(moved));
#ifdef NACELLE_SANITIZE
        const int steps = 60;
#else
        const int steps = 800;
#endif
        for (int step = 0; step < steps; ++step) {
            CAPTURE(step);
            if (dice.chance(0.5)) meddle(dice, {&plain, &moved});
            const Bytes now = copied(workspace(moved));
            if (dice.chance(0.7)) disturb(dice, workspace(moved), earlier);
            if (dice.chance(0.2)) earlier = now;
            plain.step_at_random();
            moved.step_at_random();
            REQUIRE(first_difference(plain, moved) == "");
        }
    }
}

TEST_CASE("a large team that nobody changed goes on from where it lay") {
    const Folder folder;
    Environment env = moving(settings(folder, 0), 64);
    env.step();
    const Bytes before = copied(workspace(env));
    env.step();
    const Bytes after = copied(workspace(env));
    // A sort would leave its traces: in what it counts, the order of who came to a bin.
    size_t changed = 0;
    for (size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i];
    CHECK(changed == 0);

    fill_numbers(env, "sheep.bin", 2);
    env.step();
    const Bytes sorted = copied(workspace(env));
    changed = 0;
    for (size_t i = 0; i < before.size(); ++i) changed += sorted[i] != after[i];
    CHECK(changed > size_t(agents));
}
