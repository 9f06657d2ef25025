// refused: indices: choice_of_mask.cu:22: mask\(\) names choice 4 where 4 are declared, 0 to 3
// remedy: indices: compare the number with what Action declares before forbid\(\) or only\(\)
// The floors are numbered from 0 on.
#include <nacelle/env.h>

struct ChoiceOfMask {
    static constexpr int time_limit = 50;
    struct Params { int floors = 4; };
    struct State { int floor; };
    struct Action { nacelle::Discrete<4> go; nacelle::Discrete<3> door; };
    struct Obs { float floor; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.floor = rng.below(4);
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.floor = a.go;
        return {.reward = float(a.door == 0)};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.floor)}; }
    static void mask(const State& s, const Params& p, nacelle::Mask<Action>& allow) {
        allow.forbid(&Action::go, p.floors);
    }
};
NACELLE_ENV(ChoiceOfMask)
