// Levers: two rooms, a worker and a lever in each, and one wage for both.
//
// In each room hangs a lamp of one of four colours, which is drawn anew for every step of a shift, and a lever stands
// there with a position for each colour. Where both levers are in their lamp's position in the same step, one box is
// made. It goes to a store that neither room looks into. When the shift is over both workers get the share of its steps
// in which a box was made; until then every reward is 0.
//
// State: `lamp` of each room, 0 to 3, and the boxes made so far in this shift.
//
// Observation: a 0 or 1 for each colour of the own room's lamp, and how much of the shift is over, 0 to 1. The other
// room and the store are not seen: what a pull was worth shows at the end alone, in one number for all pulls of both.
//
// Global, for a critic: the boxes made and the part of the shift that is over, both 0 to 1, and the lamps of both rooms.
#include <nacelle/env.h>

struct Levers {
    static constexpr int agents = 2, colours = 4;
    static constexpr int shift = nacelle::constant("shift", 256);

    struct Params {};
    struct State { int lamp[agents], boxes; };
    struct Agent {};
    struct Action { nacelle::Discrete<colours> position; };
    struct Obs { float lamp[colours], time; };
    struct Log { float boxes; };
    struct Global { float boxes, time, lamps[agents][colours]; };

    using Team = nacelle::Team<Levers>;
    using Member = nacelle::Member<Levers>;

    static void light(State& s, nacelle::Rng& rng) {
        for (int& lamp : s.lamp) lamp = rng.below(colours);
    }
    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) {
            s.boxes = 0;
            light(s, rng);
        });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.once([&](State& s, nacelle::Rng& rng) {
            bool made = true;
            for (int room = 0; room < agents; ++room)
                made = made && int(team[room].action.position) == s.lamp[room];
            s.boxes += made;
            light(s, rng);
        });
        const bool over = team.episode().step == shift;
        const float wage = float(team.state().boxes) / float(shift);
        team.each([&](Member& me) { me.reward = over ? wage : 0.0f; });
        return over ? nacelle::Ending::terminated : nacelle::Ending::running;
    }

    static Obs observe(const Team& team, const Member& me, const Params&) {
        Obs obs;
        for (int i = 0; i < colours; ++i) obs.lamp[i] = float(team.state().lamp[me.id] == i);
        obs.time = float(team.episode().step) / float(shift);
        return obs;
    }
    static Log report(const Team& team, const Params&) {
        return {float(team.state().boxes) / float(shift)};
    }
    static Global overview(const Team& team, const Params&) {
        const State& s = team.state();
        Global all;
        all.boxes = float(s.boxes) / float(shift);
        all.time = float(team.episode().step) / float(shift);
        for (int room = 0; room < agents; ++room)
            for (int i = 0; i < colours; ++i) all.lamps[room][i] = float(s.lamp[room] == i);
        return all;
    }
};
NACELLE_ENV(Levers)
