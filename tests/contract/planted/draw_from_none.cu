// refused: indices: draw_from_none.cu:17: below\(0\) has no number to draw: below\(n\) draws one of 0 to n - 1
// remedy: indices: draw only where there is one number or more
// Once all cards are drawn, another one is drawn.
#include <nacelle/env.h>

struct DrawFromNone {
    static constexpr int time_limit = 50;
    struct Params { int cards = 8; };
    struct State { int left, last; };
    struct Action { nacelle::Discrete<2> take; };
    struct Obs { float left; };

    static void reset(State& s, const Params& p, nacelle::Rng&) {
        s = {p.cards, 0};
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {
        if (a.take) s.last = rng.below(s.left--);
        return {.reward = float(s.last)};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.left)}; }
};
NACELLE_ENV(DrawFromNone)
