// Two agents of one policy who draw nearer to a mark by turns; some games end, others are cut short.
#include <nacelle/env.h>

struct Duel {
    static constexpr int agents = 2, time_limit = 9;
    struct Params {};
    struct State { float mark; bool over; };
    struct Agent { float at; };
    struct Action { nacelle::Discrete<3> move; };
    struct Obs { float off, other, my_turn; };
    using Team = nacelle::Team<Duel>;
    using Member = nacelle::Member<Duel>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) { s = {rng.normal(), false}; });
        team.each([](Member& me, nacelle::Rng& rng) { me.at = rng.normal(); });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](Member& me) {
            if (me.acts) me.at += 0.4f * float(int(me.action.move) - 1);
        });
        const float apart = nacelle::abs(team[0].at - team.state().mark) -
                            nacelle::abs(team[1].at - team.state().mark);
        team.once([](State& s, nacelle::Rng& rng) { s.over = rng.chance(0.06f); });
        team.each([&](Member& me) { me.reward = me.id == 0 ? -apart : apart; });
        return team.state().over ? nacelle::Ending::terminated : nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team& team, const Member& me, const Params&) {
        return team.episode().step % 2 == me.id ? nacelle::Turn::acts : nacelle::Turn::waits;
    }
    static Obs observe(const Team& team, const Member& me, const Params&) {
        const float mark = team.state().mark;
        return {me.at - mark, team[1 - me.id].at - mark, float(team.episode().step % 2 == me.id)};
    }
};
NACELLE_ENV(Duel)
