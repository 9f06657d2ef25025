// refused: checked build: a phase reads, or writes for another, .*\(a race\) in step 1: agent\.x
// Whoever goes pushes the next one.
#include <nacelle/env.h>

struct RaceNeighbour {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RaceNeighbour>;
    using Member = nacelle::Member<RaceNeighbour>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            me.reward = me.x;
            if (me.action.go) const_cast<Member&>(team[(me.id + 1) % agents]).x += p.pull;
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RaceNeighbour)
