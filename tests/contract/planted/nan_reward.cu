// refused: finite numbers: reward of environment [0-9]+ is not a number since step [0-9]+
// The root of a distance that may be negative.
#include <nacelle/env.h>

struct NanReward {
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
        return {.reward = nacelle::sqrt(s.x)};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(NanReward)
