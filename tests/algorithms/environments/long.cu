// It sees more numbers than a block of a GPU has threads.
#include <nacelle/env.h>

struct Long {
    static constexpr int time_limit = 8, third = 50;
    struct Params {};
    struct State { float x[third]; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x[third], square[third], far[third]; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        for (float& x : s.x) x = rng.normal();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {
        for (float& x : s.x) x = 0.5f * x + rng.normal();
        return {.reward = s.x[0] + float(a.go), .terminated = rng.chance(0.1f)};
    }
    static Obs observe(const State& s, const Params&) {
        Obs obs;
        for (int i = 0; i < third; ++i) {
            obs.x[i] = s.x[i];
            obs.square[i] = s.x[i] * s.x[third - 1 - i];
            obs.far[i] = 0.1f * s.x[i] + float(i);
        }
        return obs;
    }
};
NACELLE_ENV(Long)
