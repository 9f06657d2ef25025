// A team whose agents see two images and a mask, and no number.
#include <nacelle/env.h>

struct Lookouts {
    static constexpr int agents = nacelle::constant("agents", 3), time_limit = 6, side = 4;
    struct Params {};
    struct State { int fire; };
    struct Agent { int at; };
    struct Action { nacelle::Discrete<3> go; };    // stays, goes on, goes back
    struct Obs {
        nacelle::Array<uint8_t, side, side> own;
        nacelle::Array<float, 2, side> fire;
    };
    using Team = nacelle::Team<Lookouts>;
    using Member = nacelle::Member<Lookouts>;

    static void reset(Team& team, const Params&) {
        team.each([](Member& me, nacelle::Rng& rng) { me.at = rng.below(side * side); });
        team.once([](State& s, nacelle::Rng& rng) { s.fire = rng.below(side); });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([&](Member& me) {
            const int step = me.action.go == 2 ? -1 : int(me.action.go);
            me.at = nacelle::clamp(me.at + step, 0, side * side - 1);
            me.reward = me.at % side == team.state().fire ? 1.0f : 0.0f;
        });
        return nacelle::Ending::running;
    }
    static void mask(const Team&, const Member& me, const Params&, nacelle::Mask<Action>& allow) {
        if (me.at == 0) allow.forbid(&Action::go, 2);
        if (me.at == side * side - 1) allow.forbid(&Action::go, 1);
    }
    static void observe(const Team& team, const Member& me, const Params&, Obs& obs) {
        obs.own.fill([&](int row, int column) -> uint8_t { return row * side + column == me.at; });
        const int fire = team.state().fire;
        obs.fire.fill([&](int row, int column) { return column == fire ? 0.5f + float(row) : 0.0f; });
    }
};
NACELLE_ENV(Lookouts)
