// The mountain car with a motor of any strength between its bounds, which costs what it uses (the
// constants are Gymnasium's MountainCarContinuous-v0). Doing nothing is a local optimum.
#include <nacelle/env.h>

struct MountainCarContinuous {
    static constexpr int time_limit = 999;

    struct Params {
        float power = 0.0015f, gravity = 0.0025f, max_speed = 0.07f;
        float min_position = -1.2f, max_position = 0.6f;
        float goal_position = 0.45f, goal_velocity = 0.0f;
        float goal_reward = 100.0f, force_cost = 0.1f;
    };
    struct State { float position, velocity; };
    struct Action { nacelle::Continuous<-1, 1> force; };
    struct Obs { float position, velocity; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s = {rng.uniform(-0.6f, -0.4f), 0.0f};
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const float force = nacelle::clamp(float(action.force), -1.0f, 1.0f);
        const float slope = nacelle::cos(3.0f * s.position);
        const float velocity = nacelle::clamp(
            s.velocity + (force * p.power - p.gravity * slope), -p.max_speed, p.max_speed);

        // The wall on the left stops the car; the right end only holds it.
        s.position = nacelle::clamp(s.position + velocity, p.min_position, p.max_position);
        const bool stopped = s.position <= p.min_position && velocity < 0.0f;
        s.velocity = stopped ? 0.0f : velocity;

        const bool there = s.position >= p.goal_position && s.velocity >= p.goal_velocity;
        const float reward = (there ? p.goal_reward : 0.0f) - p.force_cost * force * force;
        return {.reward = reward, .terminated = there};
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
NACELLE_ENV(MountainCarContinuous)
