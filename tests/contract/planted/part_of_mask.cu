// refused: indices: part_of_mask.cu:20: mask\(\) names part 2 where 2 are declared, 0 to 1
// Two doors have the numbers 0 and 1.
#include <nacelle/env.h>

struct PartOfMask {
    static constexpr int time_limit = 50;
    struct Params { float speed = 0.1f; };
    struct State { int open; };
    struct Action { nacelle::Discrete<3> door[2]; };
    struct Obs { float open; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.open = rng.below(3); }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        s.open = a.door[0];
        return {.reward = p.speed};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.open)}; }
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        // The number of what is open, where a door's was meant.
        allow.only(&Action::door, s.open, 1);
    }
};
NACELLE_ENV(PartOfMask)
