// refused: observe writes: observe\(\) leaves a number unwritten: obs\[1\] of environment [0-9]+
// The second number is written on one side only.
#include <nacelle/env.h>

struct ForgottenObservation {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x, distance; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.uniform();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x += a.go ? p.speed : -p.speed;
        return {.reward = s.x};
    }
    static void observe(const State& s, const Params&, Obs& o) {
        o.x = s.x;
        if (s.x > 1.0f) o.distance = s.x - 1.0f;
    }
};
NACELLE_ENV(ForgottenObservation)
