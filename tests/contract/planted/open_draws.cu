// refused: order of draws: open_draws\.cu:15: two draws from 'rng' in one expression
// remedy: order of draws: name each draw on a line of its own
#include <nacelle/env.h>

struct OpenDraws {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { int place; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float place; };

    static int cell(int row, int column) { return row * 12 + column; }

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.place = cell(3 + rng.below(9), rng.below(12));
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.place += a.go ? 1 : -1;
        return {.reward = 1.0f};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.place)}; }
};
NACELLE_ENV(OpenDraws)
