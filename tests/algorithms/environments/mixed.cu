// Real and discrete actions side by side.
#include <nacelle/env.h>

struct Mixed {
    static constexpr int time_limit = 7;
    struct Params { float end_chance = 0.05f; };
    struct State { float x[3]; };
    struct Action {
        nacelle::Continuous<-2, 3> push;
        nacelle::Discrete<4> gear;
        nacelle::Continuous<> trim[2];
    };
    struct Obs { float x[3]; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        for (float& x : s.x) x = rng.normal();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x[0] = 0.7f * s.x[0] + 0.2f * a.push + 0.2f * rng.normal();
        s.x[1] = 0.7f * s.x[1] + 0.3f * float(a.gear - 1) * a.trim[0] + 0.2f * rng.normal();
        s.x[2] = 0.9f * s.x[2] + 0.3f * a.trim[1] + 0.2f * rng.normal();
        return {.reward = 1.0f - s.x[0] * s.x[0] + s.x[1], .terminated = rng.chance(p.end_chance)};
    }
    static Obs observe(const State& s, const Params&) { return {{s.x[0], s.x[1], s.x[2]}}; }
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        if (s.x[1] > 0.3f) allow.forbid(&Action::gear, 3);
        if (s.x[2] > 0.8f) allow.only(&Action::gear, 1);
    }
};
NACELLE_ENV(Mixed)
