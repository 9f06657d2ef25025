// refused: checked build: something is read that was never written in (reset\(\)|step [0-9]+): obs\[1\]
// The same, in an Obs that is returned.
#include <nacelle/env.h>

struct ForgottenLocal {
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
    static Obs observe(const State& s, const Params&) {
        Obs o;
        o.x = s.x;
        if (s.x > 1.0f) o.distance = s.x - 1.0f;
        return o;
    }
};
NACELLE_ENV(ForgottenLocal)
