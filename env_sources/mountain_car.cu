// Drive an underpowered car out of a valley: it has to swing back and forth to gain speed (Moore,
// 1990; the constants are Gymnasium's MountainCar-v0). The ground is as high as sin(3 position).
#include <nacelle/env.h>

struct MountainCar {
    static constexpr int time_limit = 200;

    struct Params {
        float force = 0.001f, gravity = 0.0025f, max_speed = 0.07f;
        float min_position = -1.2f, max_position = 0.6f;
        float goal_position = 0.5f, goal_velocity = 0.0f;
    };
    struct State { float position, velocity; };
    struct Action { nacelle::Discrete<3> throttle; };       // 0 left, 1 none, 2 right
    struct Obs { float position, velocity; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s = {rng.uniform(-0.6f, -0.4f), 0.0f};
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const float push = float(action.throttle - 1) * p.force;
        const float slope = nacelle::cos(3.0f * s.position);
        const float velocity =
            nacelle::clamp(s.velocity + (push - slope * p.gravity), -p.max_speed, p.max_speed);

        // The wall on the left stops the car; the right end only holds it.
        s.position = nacelle::clamp(s.position + velocity, p.min_position, p.max_position);
        const bool stopped = s.position <= p.min_position && velocity < 0.0f;
        s.velocity = stopped ? 0.0f : velocity;

        const bool there = (s.position >= p.goal_position) & (s.velocity >= p.goal_velocity);
        return {.reward = -1.0f, .terminated = there};
    }

    static Obs observe(const State& s, const Params&) { return {s.position, s.velocity}; }

    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        const float left = p.min_position, right = p.max_position, low = -1.3f;
        canvas.view(left, low, right, 1.3f);
        constexpr int points = 30;
        float ground[2 * points + 4] = {right, low, left, low};
        for (int i = 0; i < points; ++i) {
            const float x = left + (right - left) * float(i) / float(points - 1);
            ground[2 * i + 4] = x;
            ground[2 * i + 5] = nacelle::sin(3.0f * x);
        }
        canvas.polygon(ground, nacelle::mix(nacelle::colours::grey, nacelle::colours::white, 0.5f));

        const float flag = p.goal_position, foot = nacelle::sin(3.0f * flag);
        canvas.line(flag, foot, flag, foot + 0.25f);
        canvas.polygon({flag, foot + 0.25f, flag, foot + 0.15f, flag - 0.1f, foot + 0.2f},
                       nacelle::colours::green);
        canvas.disc(s.position, nacelle::sin(3.0f * s.position) + 0.05f, 0.05f,
                    nacelle::colours::blue);
    }
};
NACELLE_ENV(MountainCar)
