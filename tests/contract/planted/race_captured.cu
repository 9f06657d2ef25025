// refused: GPU code: the GPU's code, run on threads, differs from the CPU's
// remedy: GPU code: .*team\.sum\(\)
// On a GPU every thread has a sum of its own.
#include <nacelle/env.h>

struct RaceCaptured {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RaceCaptured>;
    using Member = nacelle::Member<RaceCaptured>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        float sum = 0;
        team.each([&](Member& me) {
            if (me.action.go) me.x += 0.01f;
            sum += me.x;
        });
        team.each([&](Member& me) { me.reward = p.pull * sum; });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RaceCaptured)
