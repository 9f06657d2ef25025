// refused: indices: index_of_array.cu:18: index 8 is outside an Array of size 8
// The last cell is 7; where the walk wraps, it is one cell late.
#include <nacelle/env.h>

struct IndexOfArray {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { int at; nacelle::Array<float, 8> visits; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float at; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.at = rng.below(8);
        s.visits.fill(0.0f);
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.at = a.go ? (s.at > 8 ? 0 : s.at + 1) : nacelle::max(s.at - 1, 0);
        s.visits[s.at] += p.speed;
        return {.reward = s.visits[0]};
    }
    static Obs observe(const State& s, const Params&) {
        return {float(s.at)};
    }
};
NACELLE_ENV(IndexOfArray)
