// Something moves beside what the agent sees and pays with it; episodes end by chance, by a cut or by the clock.
#include <nacelle/env.h>

struct Overseen {
    static constexpr int time_limit = 9;
    // `shown` changes what is seen by the overview, and nothing else.
    struct Params { float end_chance = 0.06f, cut_chance = 0.08f, shown = 0; };
    struct State { float x, hidden[2]; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs { float x, square; };
    struct Global { float x, hidden[2]; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.normal();
        for (float& h : s.hidden) h = 5.0f * rng.normal();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x = 0.8f * s.x + 0.5f * float(a.go - 1) + 0.2f * rng.normal();
        s.hidden[0] = 0.9f * s.hidden[0] + s.x;
        return {.reward = s.x + s.hidden[0] - s.hidden[1],
                .terminated = rng.chance(p.end_chance),
                .truncated = rng.chance(p.cut_chance)};
    }
    static Obs observe(const State& s, const Params&) { return {s.x, s.x * s.x}; }
    static Global overview(const State& s, const Params& p) {
        return {s.x + p.shown * s.x * s.x, {s.hidden[0], s.hidden[1] + p.shown}};
    }
};
NACELLE_ENV(Overseen)
