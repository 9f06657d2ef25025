// Swing two links, with a motor only in the joint between them, until the free end is high above
// the fixed one (Sutton, 1996; Gymnasium's Acrobot-v1 with the equations of Sutton and Barto's
// book). theta1 is measured from hanging straight down, theta2 from the first link's direction.
#include <nacelle/env.h>

struct Acrobot {
    static constexpr int time_limit = 500;

    struct Params {                                         // both links are alike
        float gravity = 9.8f, length = 1.0f, mass = 1.0f, centre = 0.5f, inertia = 1.0f;
        float torque = 1.0f, dt = 0.2f, goal_height = 1.0f;
        float max_speed1 = 4.0f * nacelle::pi, max_speed2 = 9.0f * nacelle::pi;
    };
    struct State { float theta1, theta2, omega1, omega2; };
    struct Action { nacelle::Discrete<3> torque; };         // 0 negative, 1 none, 2 positive
    struct Obs { float cos1, sin1, cos2, sin2, omega1, omega2; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        auto small = [&] { return rng.uniform(-0.1f, 0.1f); };
        s = {small(), small(), small(), small()};
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const float torque = float(action.torque - 1) * p.torque;

        // One Runge-Kutta step of fourth order.
        const State a = slope(s, torque, p);
        const State b = slope(ahead(s, a, 0.5f * p.dt), torque, p);
        const State c = slope(ahead(s, b, 0.5f * p.dt), torque, p);
        const State d = slope(ahead(s, c, p.dt), torque, p);
        s = ahead(s, ahead(ahead(a, b, 2.0f), ahead(d, c, 2.0f), 1.0f), p.dt / 6.0f);

        s.theta1 = within_half_turn(s.theta1);
        s.theta2 = within_half_turn(s.theta2);
        s.omega1 = nacelle::clamp(s.omega1, -p.max_speed1, p.max_speed1);
        s.omega2 = nacelle::clamp(s.omega2, -p.max_speed2, p.max_speed2);

        const float height = -nacelle::cos(s.theta1) - nacelle::cos(s.theta1 + s.theta2);
        const bool there = height > p.goal_height;
        return {.reward = there ? 0.0f : -1.0f, .terminated = there};
    }

    static Obs observe(const State& s, const Params&) {
        return {nacelle::cos(s.theta1), nacelle::sin(s.theta1),
                nacelle::cos(s.theta2), nacelle::sin(s.theta2), s.omega1, s.omega2};
    }

    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        const float l = p.length, room = 2.2f * l, both = s.theta1 + s.theta2;
        const float x1 = l * nacelle::sin(s.theta1), y1 = -l * nacelle::cos(s.theta1);
        const float x2 = x1 + l * nacelle::sin(both), y2 = y1 - l * nacelle::cos(both);
        canvas.view(-room, -room, room, room);
        canvas.line(-room, p.goal_height * l, room, p.goal_height * l, nacelle::colours::green);
        canvas.line(0, 0, x1, y1, nacelle::colours::blue, 0.14f * l);
        canvas.line(x1, y1, x2, y2, nacelle::colours::orange, 0.14f * l);
        canvas.disc(0, 0, 0.06f * l);
        canvas.disc(x1, y1, 0.06f * l);
    }

    // How fast each part of the state changes.
    static State slope(const State& s, float torque, const Params& p) {
        const float m = p.mass, l = p.length, c = p.centre;
        const float sine = nacelle::sin(s.theta2), cosine = nacelle::cos(s.theta2);

        const float d1 = m * (l * l + 2.0f * c * c + 2.0f * l * c * cosine) + 2.0f * p.inertia;
        const float d2 = m * (c * c + l * c * cosine) + p.inertia;
        const float phi2 = m * c * p.gravity * nacelle::sin(s.theta1 + s.theta2);
        const float phi1 = m * (c + l) * p.gravity * nacelle::sin(s.theta1) + phi2
            - m * l * c * s.omega2 * (s.omega2 + 2.0f * s.omega1) * sine;

        const float spin = m * l * c * s.omega1 * s.omega1 * sine;
        const float acc2 = (torque + d2 / d1 * phi1 - spin - phi2)
            / (m * c * c + p.inertia - d2 * d2 / d1);
        return {s.omega1, s.omega2, -(d2 * acc2 + phi1) / d1, acc2};
    }

    static State ahead(const State& s, const State& slope, float dt) {
        return {s.theta1 + dt * slope.theta1, s.theta2 + dt * slope.theta2,
                s.omega1 + dt * slope.omega1, s.omega2 + dt * slope.omega2};
    }

    static float within_half_turn(float angle) {
        const float turn = 2.0f * nacelle::pi;
        return angle - turn * nacelle::floor((angle + nacelle::pi) / turn);
    }
};
NACELLE_ENV(Acrobot)
