// refused: masks: mask\(\) forbids every choice of action.go of environment [0-9]+
// On the right side nothing is left.
#include <nacelle/env.h>

struct MaskOfAll {
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
        return {.reward = s.x};
    }
    static Obs observe(const State& s, const Params&) {
        return {s.x};
    }
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        if (s.x < 0.5f) allow.forbid(&Action::go, 0);
        if (s.x > 0.4f) allow.forbid(&Action::go, 1);
    }
};
NACELLE_ENV(MaskOfAll)
