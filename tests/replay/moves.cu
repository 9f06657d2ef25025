// Two real numbers that are chosen, and episodes that end by chance and by a limit.
#include <nacelle/env.h>

struct Moves {
    static constexpr int time_limit = 5;
    struct Params {};
    struct State { float x, y; };
    struct Action { nacelle::Continuous<-1, 1> right; nacelle::Continuous<-2, 2> up; };
    struct Obs { float x, y; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.uniform(), rng.uniform()}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {
        s.x += a.right;
        s.y += 0.5f * a.up + rng.uniform();
        return {.reward = 1 - s.x * s.x - s.y * s.y, .terminated = rng.chance(0.2f)};
    }
    static Obs observe(const State& s, const Params&) { return {s.x, s.y}; }
};
NACELLE_ENV(Moves)
