// refused: checked build: a phase reads, or writes for another, .*\(a race\) in step 1: agent\.x
// remedy: checked build: give the readers a phase of their own
// Everyone is drawn to the next one, who has moved already, or not yet.
#include <nacelle/env.h>

struct RaceOwnField {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RaceOwnField>;
    using Member = nacelle::Member<RaceOwnField>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            const Member& next = team[(me.id + 1) % agents];
            me.x += p.pull * (next.x - me.x) + (me.action.go ? 0.01f : 0.0f);
            me.reward = me.x;
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RaceOwnField)
