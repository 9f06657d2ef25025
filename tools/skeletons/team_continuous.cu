// A few agents on a plate that are to meet. What every team needs is here, and some of what it may
// have; change whatever you like. sdk/environments.md explains each word.
//
//     nacelle watch skeleton --web   shows it while you change it
//     nacelle check skeleton         holds this file to its contract and to skeleton.test.json
//     nacelle draw skeleton          paints it into skeleton.svg
//     nacelle train skeleton         learns it, as skeleton.json says
#include <nacelle/env.h>

struct Skeleton {
    static constexpr int agents = nacelle::constant("agents", 3);    // --set env.constants.agents=5
    static constexpr int time_limit = 50;               // steps, then the episode is cut off

    // What can be set without a change here: --set env.params.stride=0.2, or in skeleton.json.
    struct Params { float stride = 0.1f, near = 0.2f; };
    // One for the team: its middle, and whether all are near it. Each becomes an array, state.x, ...
    struct State { float x, y; bool met; };
    // One for each agent: agent.x and so on.
    struct Agent { float x, y, to_middle; };
    // What the policy chooses for an agent, and what it sees there.
    struct Action { nacelle::Continuous<> go[2]; };     // to the right and up, each from -1 to 1
    struct Obs { float x, y, x_to_middle, y_to_middle; };
    // What the metrics say of each episode that has ended, as log.met.
    struct Log { float met; };

    using Team = nacelle::Team<Skeleton>;
    using Member = nacelle::Member<Skeleton>;           // an Agent with id, action and reward

    // The beginning of an episode. A phase writes what is its own: `each` an agent, `once` State.
    static void reset(Team& team, const Params&) {
        team.each([](Member& me, nacelle::Rng& rng) {
            me.x = rng.uniform(-1.0f, 1.0f);
            me.y = rng.uniform(-1.0f, 1.0f);
        });
        measure(team);
        team.once([](State& s) { s.met = false; });
    }

    // One step of all at once. `terminated` ends the episode; the time limit does so by itself.
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            // Learners keep to the bounds; who writes the actions himself may not.
            const float right = nacelle::clamp(float(me.action.go[0]), -1.0f, 1.0f);
            const float up = nacelle::clamp(float(me.action.go[1]), -1.0f, 1.0f);
            me.x = nacelle::clamp(me.x + p.stride * right, -1.0f, 1.0f);
            me.y = nacelle::clamp(me.y + p.stride * up, -1.0f, 1.0f);
        });
        measure(team);
        const bool met = !team.any([&](const Member& m) { return m.to_middle > p.near; });
        team.once([&](State& s) { s.met = met; });
        team.each([&](Member& me) { me.reward = met ? 1.0f : -0.1f * me.to_middle; });
        return met ? nacelle::Ending::terminated : nacelle::Ending::running;
    }

    static Obs observe(const Team& team, const Member& me, const Params&) {
        return {me.x, me.y, team.state().x - me.x, team.state().y - me.y};
    }

    static Log report(const Team& team, const Params&) { return {team.state().met ? 1.0f : 0.0f}; }

    // A picture, in coordinates of your own. It is never compiled for a GPU.
    static void draw(nacelle::Canvas& canvas, const Team& team, const Params& p) {
        canvas.view(-1.1f, -1.1f, 1.1f, 1.1f);
        canvas.box(-1.05f, -1.05f, 1.05f, 1.05f, nacelle::colours::white);
        canvas.disc(team.state().x, team.state().y, p.near, nacelle::colours::green);
        for (int i = 0; i < agents; ++i)
            canvas.disc(team[i].x, team[i].y, 0.05f, nacelle::colours::blue);
    }

    // Functions of your own are plain C++. A question such as `sum` or `any` has one answer for all.
    // Maths comes from nacelle::, so that a CPU and a GPU agree in every bit.
    static void measure(Team& team) {
        const float x = team.sum([](const Member& m) { return m.x; }) / float(agents);
        const float y = team.sum([](const Member& m) { return m.y; }) / float(agents);
        team.once([&](State& s) {
            s.x = x;
            s.y = y;
        });
        team.each([&](Member& me) {
            me.to_middle = nacelle::sqrt((x - me.x) * (x - me.x) + (y - me.y) * (y - me.y));
        });
    }
};
NACELLE_ENV(Skeleton)
