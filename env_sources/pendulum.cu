// Swing a pendulum up and hold it there with a motor too weak to lift it at once (the constants are
// Gymnasium's Pendulum-v1). theta is 0 when it stands upright, and counts whole turns.
#include <nacelle/env.h>

struct Pendulum {
    static constexpr int time_limit = 200;

    struct Params {
        float gravity = 10.0f, mass = 1.0f, length = 1.0f, dt = 0.05f;
        float max_torque = 2.0f, max_speed = 8.0f;
        float speed_cost = 0.1f, torque_cost = 0.001f;
    };
    struct State { float theta, omega; };
    struct Action { nacelle::Continuous<-2, 2> torque; };
    struct Obs { float cosine, sine, omega; };

    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s = {rng.uniform(-nacelle::pi, nacelle::pi), rng.uniform(-1.0f, 1.0f)};
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const float torque = nacelle::clamp(float(action.torque), -p.max_torque, p.max_torque);
        const float lean = within_half_turn(s.theta);
        const float cost = lean * lean + p.speed_cost * s.omega * s.omega
            + p.torque_cost * torque * torque;

        const float fall = 3.0f * p.gravity / (2.0f * p.length) * nacelle::sin(s.theta);
        const float lift = 3.0f / (p.mass * p.length * p.length) * torque;
        s.omega = nacelle::clamp(s.omega + (fall + lift) * p.dt, -p.max_speed, p.max_speed);
        s.theta += s.omega * p.dt;
        return {.reward = -cost};
    }

    static Obs observe(const State& s, const Params&) {
        return {nacelle::cos(s.theta), nacelle::sin(s.theta), s.omega};
    }

    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        const float room = 1.3f * p.length;
        const float x = -p.length * nacelle::sin(s.theta), y = p.length * nacelle::cos(s.theta);
        canvas.view(-room, -room, room, room);
        canvas.ring(0, 0, p.length, nacelle::faded(nacelle::colours::grey, 0.5f));
        canvas.disc(0, p.length, 0.03f * room, nacelle::colours::green);
        canvas.line(0, 0, x, y, nacelle::colours::blue, 0.08f * room);
        canvas.disc(0, 0, 0.03f * room);
    }

    static float within_half_turn(float angle) {
        const float turn = 2.0f * nacelle::pi;
        return angle - turn * nacelle::floor((angle + nacelle::pi) / turn);
    }
};
NACELLE_ENV(Pendulum)
