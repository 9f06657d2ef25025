// A picture of four dimensions.
#include <nacelle/env.h>

struct Film {
    static constexpr int time_limit = 5;
    struct Params {};
    struct State { int at; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs {
        nacelle::Array<uint8_t, 2, 3, 4, 2> frames;
    };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.at = rng.below(16); }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.at = nacelle::wrap(s.at + a.go, 16);
        return {.reward = float(s.at == 0)};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.frames.fill(uint8_t(s.at));
    }
};
NACELLE_ENV(Film)
