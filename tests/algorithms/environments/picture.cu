// A picture to see, and nothing else.
#include <nacelle/env.h>

struct Picture {
    static constexpr int time_limit = 5, side = 4;
    struct Params {};
    struct State { int at; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { nacelle::Array<uint8_t, side, side> image; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.at = rng.below(side * side); }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.at = nacelle::wrap(s.at + a.go, side * side);
        return {.reward = float(s.at == 0)};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.image.fill(0);
        obs.image(s.at / side, s.at % side) = 255;
    }
};
NACELLE_ENV(Picture)
