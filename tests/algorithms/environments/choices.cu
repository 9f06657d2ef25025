// Several discrete choices with a mask that moves; episodes end by chance, by a cut or by the clock.
#include <nacelle/env.h>

struct Choices {
    static constexpr int time_limit = 9;
    struct Params { float end_chance = 0.06f, cut_chance = 0.06f; };
    struct State { float x[4]; };
    struct Action { nacelle::Discrete<5> go; nacelle::Discrete<3> turn[2]; };
    struct Obs { float x[4], large; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        for (float& x : s.x) x = rng.normal();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        for (int i = 0; i < 4; ++i)
            s.x[i] = 0.8f * s.x[i] + 0.3f * float(a.go == i) - 0.2f * float(a.turn[i % 2] - 1) +
                     0.3f * rng.normal();
        const bool end = rng.chance(p.end_chance), cut = rng.chance(p.cut_chance);
        return {.reward = s.x[0] - s.x[3] + float(a.turn[1] == 2),
                .terminated = end,
                .truncated = cut};
    }
    static Obs observe(const State& s, const Params&) {
        return {{s.x[0], s.x[1], s.x[2], s.x[3]}, 100.0f + 20.0f * s.x[0] * s.x[1]};
    }
    // Now all is open, now a few, now a single one.
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        for (int i = 0; i < 4; ++i)
            if (s.x[i] > 0.0f) allow.forbid(&Action::go, i);
        if (s.x[0] > 1.0f) allow.only(&Action::go, 2);
        if (s.x[1] > 0.5f) allow.forbid(&Action::turn, 0, 0);
        if (s.x[2] > 0.5f) allow.only(&Action::turn, 1, 1);
    }
};
NACELLE_ENV(Choices)
