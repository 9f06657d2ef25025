// refused: indices: .*a phase 'each' or 'sort' wrote State
// Every agent adds to the wind.
#include <nacelle/env.h>

struct RaceState {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RaceState>;
    using Member = nacelle::Member<RaceState>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        State* state = nullptr;
        team.once([&](State& s) { state = &s; });
        team.each([&](Member& me) {
            me.reward = me.x;
            if (state && me.action.go) state->wind += p.pull * me.x;
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RaceState)
