// refused: indices: division_by_zero.cu:16: .*a whole number is divided by zero
#include <nacelle/env.h>

struct DivisionByZero {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { float x; int laps; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s = {rng.uniform(), 0};
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x += a.go ? p.speed : -p.speed;
        s.laps = 7 / int(s.x < 1.0f);
        return {.reward = float(s.laps)};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(DivisionByZero)
