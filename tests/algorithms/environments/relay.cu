// A team with two policies whose agents act, wait or are out by chance.
#include <nacelle/env.h>

struct Relay {
    static constexpr int agents = 5, time_limit = 8;
    enum class Policy { runner, keeper };
    struct Params { float wait_chance = 0.25f, out_chance = 0.1f, end_chance = 0.06f; };
    struct State { float ball; bool over; };
    struct Agent { float x; uint8_t next; };
    struct Action { nacelle::Discrete<3> go; nacelle::Discrete<2> shout; };
    struct Obs { float x, ball, id; };
    using Team = nacelle::Team<Relay>;
    using Member = nacelle::Member<Relay>;

    static constexpr Policy policy(int id) {
        return id == 1 || id == 4 ? Policy::keeper : Policy::runner;
    }
    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) { s = {rng.normal(), false}; });
        team.each([](Member& me, nacelle::Rng& rng) {
            me.x = rng.normal();
            me.next = rng.chance(0.3f) ? 1 : 0;
        });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me, nacelle::Rng& rng) {
            me.x = 0.8f * me.x + 0.4f * float(me.action.go - 1) + 0.2f * rng.normal();
            me.reward = (me.x - team.state().ball) * (me.action.shout ? 1.0f : 0.5f);
            const float drawn = rng.uniform();
            const bool stays_out = me.next == 2 && drawn > 0.2f;
            me.next = stays_out || drawn < p.out_chance             ? 2
                      : drawn < p.out_chance + p.wait_chance ? 1
                                                             : 0;
        });
        const float sum = team.sum([](const Member& m) { return m.x; });
        team.once([&](State& s, nacelle::Rng& rng) {
            s.ball = 0.7f * s.ball + 0.1f * sum;
            s.over = rng.chance(p.end_chance);
        });
        return team.state().over ? nacelle::Ending::terminated : nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team&, const Member& me, const Params&) {
        return nacelle::Turn(me.next);
    }
    static void mask(const Team&, const Member& me, const Params&, nacelle::Mask<Action>& allow) {
        if (me.x > 0.5f) allow.forbid(&Action::go, me.id % 3);
        if (me.x < -1.0f) allow.only(&Action::go, 2);
    }
    static Obs observe(const Team& team, const Member& me, const Params&) {
        return {me.x, team.state().ball, float(me.id)};
    }
};
NACELLE_ENV(Relay)
