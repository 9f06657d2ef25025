// Three agents of two policies, who see their own numbers and are paid for all; episodes end by chance or by a cut.
#include <nacelle/env.h>

struct WatchedTeam {
    static constexpr int agents = 3;
    enum class Policy { odd, even };
    static constexpr Policy policy(int id) { return id == 1 ? Policy::odd : Policy::even; }
    static constexpr int time_limit = 7;
    // `shown` changes what is seen by the overview, and nothing else.
    struct Params { float end_chance = 0.05f, cut_chance = 0.08f, shown = 0; };
    struct State { bool end, cut; float hidden; };
    struct Agent { float at, speed; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs { float at, speed; };
    struct Global { float first, hidden; };

    using Team = nacelle::Team<WatchedTeam>;
    using Member = nacelle::Member<WatchedTeam>;

    static void reset(Team& team, const Params&) {
        team.each([](Member& me, nacelle::Rng& rng) {
            me.at = rng.normal();
            me.speed = 0.0f;
        });
        team.once([](State& s, nacelle::Rng& rng) { s.hidden = 4.0f * rng.normal(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([](Member& me, nacelle::Rng& rng) {
            me.speed = 0.5f * me.speed + 0.3f * float(me.action.go - 1) + 0.1f * rng.normal();
            me.at += me.speed;
        });
        const float all = team.sum([](const Member& m) { return m.at; });
        team.once([&](State& s, nacelle::Rng& rng) {
            s.hidden = 0.9f * s.hidden + all;
            s.end = rng.chance(p.end_chance);
            s.cut = rng.chance(p.cut_chance);
        });
        team.each([&](Member& me) { me.reward = all + team.state().hidden; });
        return team.state().end   ? nacelle::Ending::terminated
               : team.state().cut ? nacelle::Ending::truncated
                                  : nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) { return {me.at, me.speed}; }
    static Global overview(const Team& team, const Params& p) {
        const float at = team[0].at;
        return {at + p.shown * at * at, team.state().hidden + p.shown};
    }
};
NACELLE_ENV(WatchedTeam)
