// refused: (determinism|checked build): .*state\.x of environment
// What one environment leaves behind, another meets.
#include <nacelle/env.h>

struct StaticVariable {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.uniform();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        static float wind = 0.0f;
        wind = wind > 1.0f ? 0.0f : wind + 0.01f;
        s.x += (a.go ? p.speed : -p.speed) + wind;
        return {.reward = s.x};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(StaticVariable)
