// A puck on a plate: push it to the mark before the time is over. What every environment needs is
// here, and some of what it may have; change whatever you like. sdk/environments.md explains each word.
//
//     nacelle watch skeleton --web   shows it while you change it
//     nacelle check skeleton         holds this file to its contract and to skeleton.test.json
//     nacelle draw skeleton          paints it into skeleton.svg
//     nacelle train skeleton         learns it, as skeleton.json says
#include <nacelle/env.h>

struct Skeleton {
    static constexpr int time_limit = 100;              // steps, then the episode is cut off

    // What can be set without a change here: --set env.params.drag=0.2, or in skeleton.json.
    struct Params { float push = 0.02f, drag = 0.1f, mark_radius = 0.1f; };
    // What the world is made of. Each number becomes an array, state.x and so on.
    struct State { float x, y, x_speed, y_speed; };
    // What the policy chooses, and what it sees.
    struct Action { nacelle::Continuous<> push[2]; };   // to the right and up, each from -1 to 1
    struct Obs { float x, y, x_speed, y_speed; };
    // What the metrics say of each episode that has ended, as log.reached.
    struct Log { float reached; };

    // The beginning of an episode: write every field of State.
    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s = {.x = rng.uniform(-1.0f, 1.0f), .y = rng.uniform(-1.0f, 1.0f),
             .x_speed = 0.0f, .y_speed = 0.0f};
    }

    // One step. `terminated` ends the episode; the time limit does so by itself.
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        // Learners keep to the bounds; who writes the actions himself may not.
        slide(s.x, s.x_speed, nacelle::clamp(float(a.push[0]), -1.0f, 1.0f) * p.push, p.drag);
        slide(s.y, s.y_speed, nacelle::clamp(float(a.push[1]), -1.0f, 1.0f) * p.push, p.drag);
        const bool there = distance(s) < p.mark_radius;
        return {.reward = there ? 1.0f : -0.1f * distance(s), .terminated = there};
    }

    static Obs observe(const State& s, const Params&) {
        return {s.x, s.y, s.x_speed, s.y_speed};
    }

    static Log report(const State& s, const Params& p) {
        return {distance(s) < p.mark_radius ? 1.0f : 0.0f};
    }

    // A picture, in coordinates of your own. It is never compiled for a GPU.
    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        canvas.view(-1.1f, -1.1f, 1.1f, 1.1f);
        canvas.box(-1.05f, -1.05f, 1.05f, 1.05f, nacelle::colours::white);
        canvas.disc(0.0f, 0.0f, p.mark_radius, nacelle::colours::green);
        canvas.line(s.x, s.y, s.x + 3.0f * s.x_speed, s.y + 3.0f * s.y_speed);
        canvas.disc(s.x, s.y, 0.05f, nacelle::colours::blue);
    }

    // Functions of your own are plain C++. Maths comes from nacelle::, so that a CPU and a GPU agree
    // in every bit.
    static float distance(const State& s) { return nacelle::sqrt(s.x * s.x + s.y * s.y); }
    static void slide(float& place, float& speed, float push, float drag) {
        speed = (1.0f - drag) * speed + push;
        place += speed;
        if (nacelle::abs(place) > 1.0f) speed = 0.0f;   // the edge stops it
        place = nacelle::clamp(place, -1.0f, 1.0f);
    }
};
NACELLE_ENV(Skeleton)
