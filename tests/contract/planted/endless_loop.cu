// refused: indices: endless_loop.cu:(1[6-9]|2[01]): no end after
// A draw from 0 to 1 never reaches 2.
#include <nacelle/env.h>

struct EndlessLoop {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.uniform();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x += a.go ? p.speed : -p.speed;
        if (s.x > 1.5f) s.x = 0.0f;
        while (s.x > 1.0f) {
            const float drawn = rng.uniform();
            if (drawn >= 2.0f) s.x = drawn - 2.0f;
        }
        return {.reward = s.x};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(EndlessLoop)
