// One agent that sees many numbers; episodes end by chance, by a cut or by the clock.
#include <nacelle/env.h>

struct Wide {
    static constexpr int sights = nacelle::constant("sights", 129);
    static constexpr int time_limit = 5;
    struct Params {
        float end_chance = 0.05f, cut_chance = 0.1f;
    };
    struct State {
        float at;
    };
    struct Action {
        nacelle::Discrete<3> push;
    };
    struct Obs {
        float sight[sights];
    };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s.at = rng.uniform(-1, 1); }
    static nacelle::Outcome step(State& s, const Action& action, const Params& p,
                                 nacelle::Rng& rng) {
        s.at = 0.9f * s.at + 0.2f * (float(int(action.push)) - 1);
        const float chance = rng.uniform();
        return {.reward = s.at,
                .terminated = chance<p.end_chance, .truncated = chance> 1 - p.cut_chance};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        for (int i = 0; i < sights; ++i) obs.sight[i] = nacelle::sin(s.at * float(i % 7 + 1));
    }
};
NACELLE_ENV(Wide)
