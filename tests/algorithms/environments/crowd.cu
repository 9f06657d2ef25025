// A team whose members see many numbers; episodes end by chance, by a cut or by the clock.
#include <nacelle/env.h>

struct Crowd {
    static constexpr int sights = nacelle::constant("sights", 129),
                         agents = nacelle::constant("agents", 3),
                         pushes = nacelle::constant("pushes", 3);
    static constexpr int time_limit = 7;
    struct Params {
        float end_chance = 0.05f, cut_chance = 0.08f;
    };
    struct State {
        bool end, cut;
    };
    struct Agent {
        float at, speed;
    };
    struct Action {
        nacelle::Discrete<pushes> push;
        nacelle::Discrete<2> hold;
    };
    struct Obs {
        float sight[sights];
    };

    using Team = nacelle::Team<Crowd>;
    using Member = nacelle::Member<Crowd>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s) { s = {}; });
        team.each([&](Member& me, nacelle::Rng& rng) {
            me.at = rng.normal();
            me.speed = 0.3f * rng.normal();
        });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me, nacelle::Rng& rng) {
            me.speed = 0.9f * me.speed + 0.3f * float(me.action.push % 3 - 1) + 0.1f * rng.normal();
            me.at = 0.95f * me.at + (me.action.hold ? 0.2f : 1.0f) * me.speed;
            me.reward = 1.0f - me.at * me.at;
        });
        team.once([&](State& s, nacelle::Rng& rng) {
            s.end = rng.chance(p.end_chance);
            s.cut = rng.chance(p.cut_chance);
        });
        if (team.state().end) return nacelle::Ending::terminated;
        return team.state().cut ? nacelle::Ending::truncated : nacelle::Ending::running;
    }
    static void observe(const Team& team, const Member& me, const Params&, Obs& obs) {
        for (int k = 0; k < sights; ++k) {
            const Member& other = team[(me.id + k) % agents];
            const float near = other.at - 0.01f * float(k % 97);
            obs.sight[k] = k % 5 == 0 ? other.speed + float(k) : near * near;
        }
    }
};
NACELLE_ENV(Crowd)
