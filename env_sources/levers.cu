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

    // A room beside the other: its lamp, and below it the lever, in the position of the last pull. Under both lies the
    // store, full where every step of the shift makes a box; a line says how much of the shift is over.
    static void draw(nacelle::Canvas& canvas, const Team& team, const Params&) {
        constexpr nacelle::Colour lamps[colours] = {nacelle::colours::red, nacelle::colours::green,
                                                    nacelle::colours::blue,
                                                    nacelle::colours::yellow};
        const State& s = team.state();
        constexpr float width = colours + 1, whole = agents * width, high = 5.5f;
        canvas.view(0, 0, whole, high);
        canvas.box(0, 0, whole, high, nacelle::colours::white);
        for (int room = 0; room < agents; ++room) {
            const float left = float(room) * width;
            canvas.disc(left + 0.5f * width, 4.4f, 0.7f, lamps[s.lamp[room]]);
            for (int i = 0; i < colours; ++i)
                canvas.disc(left + float(i) + 1, 2.5f, 0.3f, lamps[i]);
            canvas.ring(left + float(int(team[room].action.position)) + 1, 2.5f, 0.4f,
                        nacelle::colours::black, 0.1f);
            if (room > 0) canvas.line(left, 1.7f, left, high, nacelle::colours::grey, 0.08f);
        }
        const float time = float(team.episode().step) / float(shift);
        canvas.box(0.5f, 0.5f, whole - 0.5f, 1.2f,
                   nacelle::mix(nacelle::colours::grey, nacelle::colours::white, 0.7f));
        canvas.box(0.5f, 0.5f, 0.5f + (whole - 1) * float(s.boxes) / float(shift), 1.2f,
                   nacelle::colours::orange);
        canvas.line(0.5f + (whole - 1) * time, 0.4f, 0.5f + (whole - 1) * time, 1.3f,
                    nacelle::colours::black, 0.08f);
    }
};
NACELLE_ENV(Levers)
