// Two groups: guides see numbers between two images, guests numbers alone.
#include <nacelle/env.h>

struct Gallery {
    static constexpr int time_limit = 7;
    struct Params { float end_chance = 0.07f; };
    struct State { float light; bool over; };
    struct Guide {
        static constexpr int count = 2;
        float x;
        uint32_t wall;
        struct Action { nacelle::Discrete<3> turn; };
        struct Obs {
            float light;
            nacelle::Array<uint8_t, 2, 3, 2> wall;
            float x;
            nacelle::Array<int8_t, 5> floor;
        };
    };
    struct Guest {
        static constexpr int count = 3;
        float x;
        struct Action { nacelle::Discrete<2> walk; };
        struct Obs { float x, light; };
    };
    using Agents = nacelle::Groups<Guide, Guest>;
    using Team = nacelle::Team<Gallery>;
    using Leader = nacelle::Member<Gallery, Guide>;
    using Visitor = nacelle::Member<Gallery, Guest>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) { s = {rng.normal(), false}; });
        team.each([](Leader& me, nacelle::Rng& rng) { me.x = rng.normal(); me.wall = rng.bits(); });
        team.each([](Visitor& me, nacelle::Rng& rng) { me.x = rng.normal(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Leader& me, nacelle::Rng& rng) {
            me.x = 0.7f * me.x + 0.4f * float(me.action.turn - 1) + 0.2f * rng.normal();
            me.wall = me.action.turn == 1 ? me.wall : rng.bits();
            me.reward = me.x * team.state().light + float(me.wall & 3u);
        });
        const float lead = team.get<Guide>(0).x;
        team.each([&](Visitor& me, nacelle::Rng& rng) {
            me.x += me.action.walk ? 0.5f * (lead - me.x) : 0.3f * rng.normal();
            me.reward = -(me.x - lead) * (me.x - lead);
        });
        team.once([&](State& s, nacelle::Rng& rng) {
            s = {0.8f * s.light + 0.2f * rng.normal(), rng.chance(p.end_chance)};
        });
        return team.state().over ? nacelle::Ending::terminated : nacelle::Ending::running;
    }
    static void observe(const Team& team, const Leader& me, const Params&, Guide::Obs& obs) {
        obs.light = team.state().light;
        obs.x = me.x;
        obs.wall.fill([&](int i, int j, int k) -> uint8_t {
            return uint8_t(me.wall >> (6 * i + 2 * j + k) & 7u);
        });
        obs.floor.fill([&](int i) -> int8_t { return int8_t(i - int(me.wall >> 13 & 7u)); });
    }
    static Guest::Obs observe(const Team& team, const Visitor& me, const Params&) {
        return {me.x, team.state().light};
    }
};
NACELLE_ENV(Gallery)
