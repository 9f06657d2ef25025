// A corridor with a cue at its beginning and a choice at its end: left or right is told once, long before it matters
// (Bakker, 2002).
#include <nacelle/env.h>

struct TMaze {
    static constexpr int time_limit = 128;
    struct Params { int length = 64; };
    struct State { int place, cue; };
    struct Action { nacelle::Discrete<2> turn; };    // 0 left, 1 right; in the corridor either goes on
    struct Obs { float left, right, junction; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {0, rng.below(2)}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        if (s.place == p.length) return {.reward = a.turn == s.cue ? 1.0f : 0.0f, .terminated = true};
        ++s.place;
        return {};
    }
    static Obs observe(const State& s, const Params& p) {
        const bool told = s.place == 0;
        return {told && s.cue == 0 ? 1.0f : 0.0f, told && s.cue == 1 ? 1.0f : 0.0f, s.place == p.length ? 1.0f : 0.0f};
    }
};
NACELLE_ENV(TMaze)
