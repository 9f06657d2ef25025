// refused: indices: .*a phase 'each' wrote the member of another agent
// The first member is kept from a phase before, and all write it.
#include <nacelle/env.h>

struct RacePointer {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RacePointer>;
    using Member = nacelle::Member<RacePointer>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        const Member* first = &team[0];
        team.each([&](Member& me) {
            me.reward = me.x;
            if (me.action.go) const_cast<Member*>(first)->x = p.pull * me.x;
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RacePointer)
