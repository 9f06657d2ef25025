#pragma once

// Teams that exist to be tested: their inputs lie in arrays that a test writes, and what they find
// out in arrays that it reads.
namespace nacelle::test {

// Asks every question, sorts into bins and looks for the nearest, in every step.
inline constexpr const char* asks = R"(#include <nacelle/env.h>
struct Asks {
    static constexpr int agents = nacelle::constant("agents", 33), bins = nacelle::constant("bins", 8);
    struct Params { float unused = 0; };
    struct State { float sum; int count, first, best; bool any, none; int cells; float over[16]; };
    struct Agent {
        float value, rank, key;
        bool flag;
        int bin;
        int near[3];
        float near_key[3];
        int near_count;
        uint32_t own_bin, run_of_bins, run_of_spots;    // hashes of the ids met, in their order
        int begin, end;                   // which bins are run through
    };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float value, twice, id; };
    using Team = nacelle::Team<Asks>;
    using Member = nacelle::Member<Asks>;

    static void reset(Team& team, const Params&) {
        team.each([](Member& me) { static_cast<Agent&>(me) = {}; });
        team.once([](State& s) { s = {}; });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        const float sum = team.sum([](const Member& m) { return m.value; });
        const int count = team.count([](const Member& m) { return m.flag; });
        const bool any = team.any([](const Member& m) { return m.flag; });
        const bool none = team.any([](const Member& m) { return m.value > 1e30f; });
        const int first = team.first([](const Member& m) { return m.flag; });
        const int best = team.best([](const Member& m) { return m.rank; });
        team.once([&](State& s) {
            s.sum = sum;
            s.count = count;
            s.any = any;
            s.none = none;
            s.first = first;
            s.best = best;
        });
        team.over(16, [&](State& s, int i) { s.over[i] = float(i) * sum; });
        team.sort([](const Member& m) { return m.bin; });
        team.each([&](Member& me) {
            const auto near = team.nearest<3>([&](const Member& other) {
                return other.flag || other.id == me.id ? -1.0f : nacelle::abs(other.key - me.key);
            });
            for (int i = 0; i < 3; ++i) {
                me.near[i] = near.id[i];
                me.near_key[i] = near.key[i];
            }
            me.near_count = near.count;
            me.own_bin = me.run_of_bins = 17;
            team.bin<nacelle::detail::Sole<Asks>>(me.bin, [&](const Member& other) { me.own_bin = me.own_bin * 31 + uint32_t(other.id) + 1; });
            team.bin<nacelle::detail::Sole<Asks>>(me.begin, me.end, [&](const Member& other) { me.run_of_bins = me.run_of_bins * 31 + uint32_t(other.id) + 1; });
            me.run_of_spots = 17;
            team.bin<nacelle::detail::Sole<Asks>>(me.begin, me.end, [&](const Member& other, nacelle::Spot spot) {
                using Places = nacelle::detail::Places;
                const nacelle::Spot moved_since = Places::spot(spot, (Places::place(spot) + 1) % agents), nowhere = Places::spot(spot, 0x7fff), told(spot);
                const bool found = team[spot].id == other.id && team[moved_since].id == spot && team[nowhere].id == spot && team[told].id == spot;
                me.run_of_spots = me.run_of_spots * 31 + uint32_t(found ? int(other.id) : -2) + 1;
            });
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.value, 2 * me.value, float(me.id)}; }
};
NACELLE_ENV(Asks)
)";

// Each agent's next turn is what its array `plan` says; an agent is paid what it chose.
inline constexpr const char* plans = R"(#include <nacelle/env.h>
struct Plans {
    static constexpr int agents = nacelle::constant("agents", 6), time_limit = 5;
    struct Params { float unused = 0; };
    struct State { int end; };    // 1: the next step ends the episode, 2: cuts it off
    struct Agent { int plan; float seen_action; bool seen_acts; };
    struct Action { nacelle::Continuous<-10, 10> pay; nacelle::Discrete<3> go; };
    struct Obs { float id, step, plan; };
    using Team = nacelle::Team<Plans>;
    using Member = nacelle::Member<Plans>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.end = 0; });
        team.each([](Member& me) {
            me.plan = me.id % 3;
            me.seen_action = 0;
            me.seen_acts = false;
        });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](Member& me) {
            me.seen_action = me.action.pay + 100.0f * float(me.action.go.value);
            me.seen_acts = me.acts;
            if (me.acts) me.reward = me.action.pay;
        });
        return team.state().end == 1   ? nacelle::Ending::terminated
               : team.state().end == 2 ? nacelle::Ending::truncated
                                       : nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team&, const Member& me, const Params&) { return nacelle::Turn(me.plan); }
    static void mask(const Team&, const Member& me, const Params&, nacelle::Mask<Action>& allow) { allow.only(&Action::go, me.id % 3); }
    static Obs observe(const Team& team, const Member& me, const Params&) {
        return {float(me.id) + 1, float(team.episode().step), float(me.plan)};
    }
};
NACELLE_ENV(Plans)
)";

// Two groups that are paid what they choose; the first miner's choice ends the episode.
inline constexpr const char* wages = R"(#include <nacelle/env.h>
struct Wages {
    static constexpr int time_limit = 6;
    struct Params { float scale = 1; };
    struct State { float spent; int steps; };
    struct Miner {
        static constexpr int count = 2;
        float dug;
        struct Action { nacelle::Continuous<-10, 10> pay; nacelle::Discrete<3> end; };
        struct Obs { float dug; };
    };
    struct StreetTrader {
        static constexpr int count = 3;
        float held;
        struct Action { nacelle::Continuous<-10, 10> pay; };
        struct Obs { float held, twice; };
    };
    using Agents = nacelle::Groups<Miner, StreetTrader>;
    struct Log { float spent; int steps; };
    struct Global { float spent, scale; };
    using Team = nacelle::Team<Wages>;
    using Digger = nacelle::Member<Wages, Miner>;
    using Trader = nacelle::Member<Wages, StreetTrader>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s = {0, 0}; });
        team.each([](Digger& me) { me.dug = 0; });
        team.each([](Trader& me) { me.held = 1; });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Digger& me) {
            me.reward = p.scale * me.action.pay;
            me.dug += 1;
        });
        team.each([&](Trader& me) {
            me.reward = p.scale * me.action.pay;
            me.held *= 2;
        });
        const float paid = team.sum([](const Digger& m) { return m.reward; }) + team.sum([](const Trader& m) { return m.reward; });
        team.once([&](State& s) {
            s.spent += paid;
            ++s.steps;
        });
        const int end = team.get<Miner>(0).action.end;
        return end == 1 ? nacelle::Ending::terminated : end == 2 ? nacelle::Ending::truncated : nacelle::Ending::running;
    }
    static Miner::Obs observe(const Team&, const Digger& me, const Params&) { return {me.dug}; }
    static StreetTrader::Obs observe(const Team&, const Trader& me, const Params&) { return {me.held, 2 * me.held}; }
    static Log report(const Team& team, const Params&) { return {team.state().spent, team.state().steps}; }
    static Global overview(const Team& team, const Params& p) { return {team.state().spent, p.scale}; }
};
NACELLE_ENV(Wages)
)";

}
