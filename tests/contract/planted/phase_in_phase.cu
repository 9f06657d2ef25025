// refused: .*: .*began inside another phase
// The one that is on its way asks the others.
#include <nacelle/env.h>

struct PhaseInPhase {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<PhaseInPhase>;
    using Member = nacelle::Member<PhaseInPhase>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            me.reward = team.count([](const Member& m) { return m.x > 0.5f; }) * p.pull;
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(PhaseInPhase)
