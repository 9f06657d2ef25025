// refused: reset writes: reset\(\) leaves state\.laps as it was
// The laps of the last episode go on in the next.
#include <nacelle/env.h>

struct ForgottenState {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { float x; int laps; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.uniform();
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x += a.go ? p.speed : -p.speed;
        if (s.x > 1.0f) {
            s.x = 0.0f;
            ++s.laps;
        }
        return {.reward = float(s.laps)};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(ForgottenState)
