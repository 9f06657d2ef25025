// Keep a pole upright on a cart without seeing how fast either moves: who remembers can tell.
#include <nacelle/env.h>

struct BlindCartPole {
    static constexpr int time_limit = 500;

    struct Params {
        float gravity = 9.8f, cart_mass = 1.0f, pole_mass = 0.1f, half_length = 0.5f;
        float force = 10.0f, dt = 0.02f;
        float x_limit = 2.4f, theta_limit = 0.20943951f;    // 12 degrees
    };
    struct State { float x, x_dot, theta, theta_dot; };
    struct Action { nacelle::Discrete<2> push; };           // 0 left, 1 right
    struct Obs { float x, theta; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        auto small = [&] { return rng.uniform(-0.05f, 0.05f); };
        s = {small(), small(), small(), small()};
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const float force = action.push ? p.force : -p.force;
        const float sine = nacelle::sin(s.theta), cosine = nacelle::cos(s.theta);
        const float mass = p.cart_mass + p.pole_mass, moment = p.pole_mass * p.half_length;

        const float push = (force + moment * s.theta_dot * s.theta_dot * sine) / mass;
        const float inertia = p.half_length * (4.0f / 3.0f - p.pole_mass * cosine * cosine / mass);
        const float theta_acc = (p.gravity * sine - cosine * push) / inertia;
        const float x_acc = push - moment * theta_acc * cosine / mass;

        // Euler: positions move with the velocities from before the push.
        s.x += p.dt * s.x_dot;
        s.x_dot += p.dt * x_acc;
        s.theta += p.dt * s.theta_dot;
        s.theta_dot += p.dt * theta_acc;

        const bool lost = nacelle::abs(s.x) > p.x_limit || nacelle::abs(s.theta) > p.theta_limit;
        return {.reward = 1.0f, .terminated = lost};
    }

    static Obs observe(const State& s, const Params&) {
        return {s.x, s.theta};
    }
};
NACELLE_ENV(BlindCartPole)
