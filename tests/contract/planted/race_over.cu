// refused: (checked build|agent order): .*state\.heat
// Every cell takes the mean of its neighbours while they do the same.
#include <nacelle/env.h>

struct RaceOver {
    static constexpr int agents = 40, cells = 8, time_limit = 50;
    struct Params { float pull = 0.5f; };
    struct State { float heat[8]; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    using Team = nacelle::Team<RaceOver>;
    using Member = nacelle::Member<RaceOver>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { for (int i = 0; i < cells; ++i) s.heat[i] = float(i); });
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.over(cells, [&](State& s, int i) {
            const float near = s.heat[(i + 1) % cells] + s.heat[(i + cells - 1) % cells];
            s.heat[i] += p.pull * (0.5f * near - s.heat[i]);
        });
        team.each([&](Member& me) { me.reward = team.state().heat[me.id % cells]; });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.x}; }
};
NACELLE_ENV(RaceOver)
