// refused: reset writes: reset\(\) leaves agent\.tired as it was
// How tired the last episode has left an agent.
#include <nacelle/env.h>

struct ForgottenMember {
    static constexpr int agents = 40, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float wind; };
    struct Agent { float x, tired; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<ForgottenMember>;
    using Member = nacelle::Member<ForgottenMember>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s.wind = 0.0f; });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            me.tired += me.action.go ? 0.1f : 0.0f;
            me.reward = p.pull * (me.x - me.tired);
        });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(ForgottenMember)
