// Two pictures of different sizes, and one of floats.
#include <nacelle/env.h>

struct Album {
    static constexpr int time_limit = 5;
    struct Params {};
    struct State { int at; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs {
        nacelle::Array<float, 4, 4> large;
        nacelle::Array<uint8_t, 3, 4, 2> small;
    };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.at = rng.below(16); }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.at = nacelle::wrap(s.at + a.go, 16);
        return {.reward = float(s.at == 0)};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.large.fill(0.5f);
        obs.small.fill(uint8_t(s.at));
    }
};
NACELLE_ENV(Album)
