// Predators chase prey on a torus, 16 to 16,384 of them; each sees its nearest of both kinds.
//
// The world is the unit square, whose opposite sides meet. It is cut into grid x grid cells, about
// three agents in each, and all lengths of Params count in cells (1 / grid of the side): so the
// game is the same at every size. Differences of places are the short way round: in [-1/2, 1/2).
//
// Start: everyone at a uniform place, with a uniform heading in [-pi, pi) and speed 0. A step:
// 1. Everyone moves. heading += turn_rate * turn; then speed += thrust_rate * top * thrust, kept
//    within 0 .. top; then the place goes on by speed / grid along (cos heading, sin heading), and
//    is wrapped into [0, 1). turn and thrust are the action, in [-1, 1]; top is predator_speed or
//    prey_speed, in cells a step; turn_rate is predator_turn or prey_turn.
// 2. A prey is caught when its nearest predator is nearer than reach / grid. The prey gets -1, that
//    predator +1 for each prey that it caught. Every other reward is 0.
// 3. A caught prey is reborn half a side away in x and in y: at (x + 1/2, y + 1/2), wrapped, with
//    speed 0 and the heading it had.
// The game goes on until its time limit of 500 steps.
//
// Observation, after all that: the `seen` nearest predators, the `seen` nearest prey, and the own
// speed / top. Only others nearer than sight / grid are seen, oneself never. Each takes 4 numbers,
// in the observer's frame: how far ahead and how far to the left (counter-clockwise), both times
// grid / sight; cosine and sine of its heading minus the observer's. Empty places are zeros.
//
// Nearest, in 2 and for the eyes, is among the 3 x 3 cells around one's own, so sight and reach are
// at most 1. They are looked through row by row (first y - 1, in a row first x - 1, wrapped), ids
// ascending in a cell: of two at equal distance the one found first counts.
#include <nacelle/env.h>

// The finest grid, of at least 3 x 3 cells, with three or more agents for each cell.
constexpr int grid_for(int agents) {
    int side = 3;
    while (3 * (side + 1) * (side + 1) <= agents) ++side;
    return side;
}

struct PursuitSwarm {
    static constexpr int predators = nacelle::constant("predators", 32);
    static constexpr int preys = nacelle::constant("preys", 224);
    static constexpr int seen = nacelle::constant("seen", 5);
    static constexpr int grid = nacelle::constant("grid", grid_for(predators + preys));
    static constexpr int time_limit = nacelle::constant("time_limit", 500), nobody = -1;
    using Torus = nacelle::Torus<grid, grid>;
    using Spot = nacelle::Spot;                            // an id, and where its agent lies

    struct Params {
        float predator_speed = 0.12f, prey_speed = 0.1f, predator_turn = 0.3f, prey_turn = 0.6f;
        float thrust_rate = 0.2f, sight = 1.0f, reach = 0.1f;
    };
    struct State { int caught; };                           // prey caught in this episode
    struct Action { nacelle::Continuous<> turn, thrust; };
    struct Near { float ahead, left, cosine, sine; };
    struct Obs { Near predator[seen], prey[seen]; float speed; };
    struct Log { float caught; };

    struct Vec2 { float x, y; };
    struct Body { Vec2 at; float heading, speed; };
    struct Predator {
        static constexpr int count = predators, bins = Torus::cells;
        Body body;
    };
    struct Prey {
        static constexpr int count = preys, bins = Torus::cells;
        Body body;
        int caught_by;                                      // in this step: an id, or nobody
    };
    using Agents = nacelle::Groups<Predator, Prey>;

    using Team = nacelle::Team<PursuitSwarm>;
    using Hunter = nacelle::Member<PursuitSwarm, Predator>;
    using Hunted = nacelle::Member<PursuitSwarm, Prey>;

    static void reset(Team& team, const Params&) {
        team.each([](Hunter& me, nacelle::Rng& rng) { me.body = anywhere(rng); });
        team.each([](Hunted& me, nacelle::Rng& rng) {
            me.body = anywhere(rng);
            me.caught_by = nobody;
        });
        team.once([](State& s) { s.caught = 0; });
        team.sort([](const Hunter& m) { return cell(m.body); });
        team.sort([](const Hunted& m) { return cell(m.body); });
    }

    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Hunter& me) { move(me, p.predator_speed, p.predator_turn, p); });
        team.each([&](Hunted& me) { move(me, p.prey_speed, p.prey_turn, p); });
        team.sort([](const Hunter& m) { return cell(m.body); });
        team.sort([](const Hunted& m) { return cell(m.body); });

        // The prey finds who caught it and the predator counts: nobody writes for another.
        team.each([&](Hunted& me) {
            const auto near = nearest<Predator, 1>(team, me.body, p.reach);
            me.caught_by = near.count ? near.id[0] : nobody;
            me.reward = near.count ? -1.0f : 0.0f;
        });
        team.each([&](Hunter& me) {
            int catches = 0;
            Torus::around(cell(me.body), [&](int first, int end) {
                team.bin<Prey>(first, end,
                               [&](const Hunted& prey) { catches += prey.caught_by == me.id; });
            });
            me.reward = float(catches);
        });
        const int caught = team.count([](const Hunted& m) { return m.caught_by != nobody; });
        if (caught == 0) return nacelle::Ending::running;

        team.once([&](State& s) { s.caught += caught; });
        team.each([](Hunted& me) {
            if (me.caught_by == nobody) return;
            me.body.at = wrapped({me.body.at.x + 0.5f, me.body.at.y + 0.5f});
            me.body.speed = 0;
        });
        team.sort([](const Hunted& m) { return cell(m.body); });
        return nacelle::Ending::running;
    }

    static void observe(const Team& team, const Hunter& me, const Params& p, Obs& obs) {
        see<Predator>(team, me.body, p.sight, obs.predator, me.id);
        see<Prey>(team, me.body, p.sight, obs.prey);
        obs.speed = me.body.speed / p.predator_speed;
    }
    static void observe(const Team& team, const Hunted& me, const Params& p, Obs& obs) {
        see<Predator>(team, me.body, p.sight, obs.predator);
        see<Prey>(team, me.body, p.sight, obs.prey, me.id);
        obs.speed = me.body.speed / p.prey_speed;
    }

    static Log report(const Team& team, const Params&) { return {float(team.state().caught)}; }

    static void draw(nacelle::Canvas& canvas, const Team& team, const Params&) {
        canvas.view(0, 0, 1, 1);
        for (int i = 0; i < preys; ++i)
            arrow(canvas, team.get<Prey>(i).body, nacelle::colours::green);
        for (int i = 0; i < predators; ++i)
            arrow(canvas, team.get<Predator>(i).body, nacelle::colours::red);
    }
    static void arrow(nacelle::Canvas& canvas, const Body& body, nacelle::Colour colour) {
        const float length = 0.15f / grid, x = body.at.x, y = body.at.y;
        canvas.line(x, y, x - length * nacelle::cos(body.heading),
                    y - length * nacelle::sin(body.heading), colour, 0.03f / grid);
        canvas.disc(x, y, 0.06f / grid, colour);
    }

    static Body anywhere(nacelle::Rng& rng) {
        const Vec2 at{rng.uniform(), rng.uniform()};
        return {at, rng.uniform(-nacelle::pi, nacelle::pi), 0};
    }
    template <class M> static void move(M& me, float top, float turn_rate, const Params& p) {
        Body& body = me.body;
        body.heading += turn_rate * me.action.turn;
        const float speed = body.speed + p.thrust_rate * top * me.action.thrust;
        body.speed = nacelle::clamp(speed, 0.0f, top);
        const float way = body.speed / grid;
        body.at = wrapped({body.at.x + way * nacelle::cos(body.heading),
                           body.at.y + way * nacelle::sin(body.heading)});
    }
    static int cell(const Body& body) { return Torus::cell(body.at.x, body.at.y); }

    // A tiny negative number rounds to 1 when 1 is added: that is 0 again.
    static float wrapped(float v) {
        const float inside = v - nacelle::floor(v);
        return inside < 1.0f ? inside : 0.0f;
    }
    static Vec2 wrapped(Vec2 v) { return {wrapped(v.x), wrapped(v.y)}; }
    static Vec2 between(Vec2 a, Vec2 b) {                   // from a to b, the short way round
        const float x = b.x - a.x, y = b.y - a.y;
        return {x - nacelle::floor(x + 0.5f), y - nacelle::floor(y + 0.5f)};
    }

    // The K nearest of group G that are nearer to `me` than `within` cells, without agent `myself`.
    template <class G, int K>
    static nacelle::Nearest<K, Spot> nearest(const Team& team, const Body& me, float within,
                                             int myself = nobody) {
        const float limit = within * within / float(grid * grid);
        nacelle::Nearest<K, Spot> near;
        Torus::around(cell(me), [&](int first, int end) {
            team.bin<G>(first, end, [&](const auto& other, Spot spot) {
                const Vec2 d = between(me.at, other.body.at);
                const float squared = d.x * d.x + d.y * d.y;
                if (squared < limit && other.id != myself) near.offer(spot, squared);
            });
        });
        return near;
    }
    template <class G>
    static void see(const Team& team, const Body& me, float sight, Near (&list)[seen],
                    int myself = nobody) {
        for (auto& one : list) one = {};
        const float scale = float(grid) / sight;
        const float cosine = nacelle::cos(me.heading), sine = nacelle::sin(me.heading);
        nearest<G, seen>(team, me, sight, myself).each([&](int place, Spot spot) {
            const Body& other = team.get<G>(spot).body;
            const Vec2 d = between(me.at, other.at);
            const float turned = other.heading - me.heading;
            list[place] = {scale * (d.x * cosine + d.y * sine), scale * (d.y * cosine - d.x * sine),
                           nacelle::cos(turned), nacelle::sin(turned)};
        });
    }
};
NACELLE_ENV(PursuitSwarm)
