// refused: host compiler: .*no_observe.cu:[0-9]+: error: needs 'static Obs observe
#include <nacelle/env.h>

struct NoObserve {
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
    static Obs look(const State& s, const Params&) {
        return {s.x};
    }
};
NACELLE_ENV(NoObserve)
