#pragma once

// Environments that exist to be tested: what they do is simple enough to be done again by a test.
namespace nacelle::test {

// Ends as its action says and pays what its action says. `value` and `steps` grow by one in every step.
inline constexpr const char* signals = R"(#include <nacelle/env.h>
struct Signals {
    static constexpr int time_limit = 6;
    struct Params { float scale = 1; };
    struct State { float value; int steps; };
    struct Action { nacelle::Discrete<4> flags; nacelle::Continuous<-10, 10> reward; };   // 1 terminated, 2 truncated
    struct Obs { float value, steps; };
    struct Log { float value; int steps; };
    struct Global { float twice, scale; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.uniform(), 0}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        s.value += 1;
        ++s.steps;
        return {.reward = p.scale * a.reward, .terminated = (a.flags & 1) != 0, .truncated = (a.flags & 2) != 0};
    }
    static Obs observe(const State& s, const Params&) { return {s.value, float(s.steps)}; }
    static Log report(const State& s, const Params&) { return {s.value, s.steps}; }
    static Global overview(const State& s, const Params& p) { return {2 * s.value, p.scale}; }
};
NACELLE_ENV(Signals)
)";

// Every step is an episode; the state shows what reset saw.
inline constexpr const char* draws = R"(#include <nacelle/env.h>
struct Draws {
    static constexpr int time_limit = 1, width = nacelle::constant("width", 3);
    static constexpr float height = nacelle::constant("height", 1.5f);
    struct Nested { float x = 1, y = 2; };
    struct Params {
        float number = 1;
        int whole = 2;
        Nested nested;
        float list[3] = {1, 2, 3};
        bool flag = true;
        double fine = 0.5;
        uint8_t byte = 7;
    };
    struct State { float number, x; int whole; float list[3]; bool flag; double fine; uint8_t byte; uint32_t level, number_of_episode; float progress, draw; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float number, width, height; };
    static void reset(State& s, const Params& p, nacelle::Rng& rng, const nacelle::Episode& now) {
        s.number = p.number;
        s.x = p.nested.x;
        s.whole = p.whole;
        for (int i = 0; i < 3; ++i) s.list[i] = p.list[i];
        s.flag = p.flag;
        s.fine = p.fine;
        s.byte = p.byte;
        s.level = now.level;
        s.number_of_episode = now.number;
        s.progress = now.progress;
        s.draw = rng.uniform();
    }
    static nacelle::Outcome step(State&, const Action&, const Params& p, nacelle::Rng&) { return {.reward = p.number}; }
    static Obs observe(const State&, const Params& p) { return {p.number, float(width), height}; }
};
NACELLE_ENV(Draws)
)";

// Forbids choices by the state, and counts what was forbidden and taken.
inline constexpr const char* masked = R"(#include <nacelle/env.h>
struct Masked {
    static constexpr int time_limit = 50;
    struct Params { bool all = false; };
    struct State { int step, wrong; };
    struct Action { nacelle::Discrete<4> a; nacelle::Continuous<0, 2> c; nacelle::Discrete<3> b[2]; };
    struct Obs { float step; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {0, 0}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        const bool wrong = a.a == s.step % 4 || a.b[1] == 2 || (s.step % 2 == 1 && a.b[0] != 1) || a.c < 0.0f || a.c > 2.0f;
        s.wrong += wrong && !p.all;
        ++s.step;
        return {.reward = wrong ? -1.0f : 0.0f};
    }
    static void mask(const State& s, const Params& p, nacelle::Mask<Action>& allow) {
        if (p.all) return;
        allow.forbid(&Action::a, s.step % 4);
        allow.forbid(&Action::b, 1, 2);
        if (s.step % 2 == 1) allow.only(&Action::b, 0, 1);
    }
    static Obs observe(const State& s, const Params&) { return {float(s.step)}; }
};
NACELLE_ENV(Masked)
)";

// A table from a file and one that prepare() fills.
inline constexpr const char* lookup = R"(#include <nacelle/env.h>
struct Lookup {
    struct Params {
        nacelle::Table<float, nacelle::any, 3> rows;
        nacelle::Table<int, 5, 2> filled;
        float scale = 1;
    };
    struct State { int at; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float size, last, middle, filled; };
    static void reset(State& s, const Params&, nacelle::Rng& rng, const nacelle::Episode& now) { s.at = int(now.env); }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng&) { return {.reward = p.scale * p.rows(s.at % p.rows.size(), 1)}; }
    static Obs observe(const State& s, const Params& p) {
        return {float(p.rows.size()), p.rows(p.rows.size() - 1, 2), p.rows(s.at % p.rows.size(), 1), float(p.filled(s.at % 5, 1))};
    }
    static void prepare(Params& p) { p.filled.fill([](int i, int j) { return 10 * i + j; }); }
};
NACELLE_ENV(Lookup)
)";

// Parameters in several dimensions, one in an array of structs with gaps between them. Its state and its picture show
// what the author's code reads.
inline constexpr const char* plant = R"(#include <nacelle/env.h>
struct Plant {
    static constexpr int time_limit = 6;
    struct Pump { float flow = 1, leak[2] = {0.25f, 0.5f}; };
    struct Params { Pump pump[2]; int grid[2][3] = {{1, 2, 3}, {4, 5, 6}}; float last = 9; };
    struct State { float flow[2], leak[2][2]; int grid[2][3]; float last; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float last; };
    static void reset(State& s, const Params& p, nacelle::Rng&) { look(s, p); }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng&) { look(s, p); return {}; }
    static Obs observe(const State& s, const Params&) { return {s.last}; }
    static void look(State& s, const Params& p) {
        for (int i = 0; i < 2; ++i) {
            s.flow[i] = p.pump[i].flow;
            for (int k = 0; k < 2; ++k) s.leak[i][k] = p.pump[i].leak[k];
            for (int k = 0; k < 3; ++k) s.grid[i][k] = p.grid[i][k];
        }
        s.last = p.last;
    }
    static void draw(nacelle::Canvas& canvas, const State&, const Params& p) {
        canvas.view(0, 0, 20, 20);
        for (int i = 0; i < 2; ++i) canvas.disc(p.pump[i].flow, p.pump[i].leak[0], p.pump[i].leak[1]);
        canvas.disc(float(p.grid[1][0]), float(p.grid[0][2]), p.last);
    }
};
NACELLE_ENV(Plant)
)";

}
