// refused: indices: index_of_list.cu:18: an index is outside a C array
// A list of four has no element 4.
#include <nacelle/env.h>

struct IndexOfList {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { int at; float list[4]; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float at; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.at = rng.below(4);
        for (int i = 0; i < 4; ++i) s.list[i] = 0.0f;
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.at = (s.at + a.go) % 5;
        s.list[s.at] += p.speed;
        return {.reward = s.list[0]};
    }
    static Obs observe(const State& s, const Params&) {
        return {float(s.at)};
    }
};
NACELLE_ENV(IndexOfList)
