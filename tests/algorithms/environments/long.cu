#include <nacelle/env.h>

// It sees more numbers than a block of a GPU has threads.
struct Long {
    static constexpr int time_limit = 8;
    struct Params {};
    struct State { float x[150]; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x[150]; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        for (float& x : s.x) x = rng.normal();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {
        for (int i = 0; i < 150; ++i) s.x[i] = 0.5f * s.x[i] + 3 + float(i) + rng.normal();
        return {.reward = s.x[0] + float(a.go), .terminated = rng.uniform(0, 1) < 0.1f};
    }
    static Obs observe(const State& s, const Params&) {
        Obs obs;
        for (int i = 0; i < 150; ++i) obs.x[i] = s.x[i];
        return obs;
    }
};
NACELLE_ENV(Long)
