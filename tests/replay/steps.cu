// Episodes that end by chance and by a limit, of numbers that are all different.
#include <nacelle/env.h>

struct Steps {
    static constexpr int time_limit = 5;
    struct Params {};
    struct State { float x; int taken; };
    struct Action { nacelle::Discrete<3> add; };
    struct Obs { float x, taken; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.uniform(), 0}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {
        s.x += float(a.add) + rng.uniform();
        ++s.taken;
        return {.reward = s.x, .terminated = rng.chance(0.2f)};
    }
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& open) {
        if (s.taken % 2) open.forbid(&Action::add, 1);
    }
    static Obs observe(const State& s, const Params&) { return {s.x, float(s.taken)}; }
};
NACELLE_ENV(Steps)
