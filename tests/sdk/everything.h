#pragma once

namespace nacelle::test {

// Everything that the vocabulary of an environment with one agent has, in one file.
inline constexpr const char* everything = R"(#include <nacelle/env.h>
#include <cmath>
#include <cstdint>

struct Vec2 {
    float x, y;
    float dot(Vec2 o) const { return x * o.x + y * o.y; }
    Vec2 operator+(Vec2 o) const { return {x + o.x, y + o.y}; }
};
enum class Mode : uint8_t { walk, run };
enum Colour { red, green };

struct Everything {
    static constexpr int time_limit = 40, threads = 32, side = nacelle::constant("side", 6);
    static constexpr float strongest = 2.5f;
    struct Body { Vec2 pos, vel; float mass; };

    struct Params {
        float gravity = 9.8f;
        bool windy = true;
        Mode mode = Mode::run;
        double fine = 0.25;
        int64_t large = -5'000'000'000;
        uint64_t larger = 10'000'000'000;
        int8_t small = -7;
        long plain_long = 3;
        float mass[2] = {1, 2};
        Vec2 wind = {0.5f, -0.5f};
        Vec2 posts[2] = {{1, 2}, {3, 4}};
        nacelle::Table<uint8_t, 4, side, side> mazes;
        nacelle::Table<bool, 8> open;
        nacelle::Table<Mode, 8> modes;
        nacelle::Table<double, 3> doubles;
    };
    struct State {
        Body a, b;
        Vec2 corner[4];
        float grid[4][4];
        Mode mode = Mode::walk;
        Colour colour = green;
        bool alive = true;
        uint8_t byte;
        int16_t words[3];
        int64_t large;
        double exact;
        long longer;
        long long longest;
        char letter;
        unsigned char raw;
        static constexpr int lives = 3;
        int left = lives;
        nacelle::Array<float, side, side> map;
        nacelle::Array<uint8_t, 20> bytes;
        nacelle::Array<bool, 5> flags;
        nacelle::Array<Mode, 2, 3> moods;
        float sum() const { return a.pos.x + b.pos.y; }
    };
    struct Steering { nacelle::Continuous<-strongest, strongest> wheel; nacelle::Continuous<0.25f, 0.75> pedal; };
    struct Action {
        nacelle::Discrete<5> cards[3];
        nacelle::Continuous<> joints[2];
        Steering steering;
        nacelle::Continuous<-2, 2.5> force;
    };
    struct Obs {
        Vec2 pos, corner[4];
        float heading[3];
        int count;
        bool alive;
        nacelle::Array<uint8_t, 4, 4, 3> image;
        nacelle::Array<float, 7> rays;
    };
    struct Log { float distance; Vec2 last; int steps; };
    struct Global { float all[5]; Vec2 pos; };

    static void reset(State& s, const Params& p, nacelle::Rng& rng, const nacelle::Episode& now) {
        s.a = {{rng.uniform(), rng.normal()}, p.wind, p.mass[0]};
        s.b = s.a;
        for (Vec2& c : s.corner) c = {float(now.level % 7), p.fine > 0.1 ? 1.0f : 0.0f};
        for (auto& row : s.grid)
            for (float& cell : row) cell = rng.uniform(-1, 1);
        s.mode = p.mode;
        s.colour = red;
        s.alive = p.open(3);
        s.byte = uint8_t(rng.below(256));
        for (int i : {0, 1, 2}) s.words[i] = int16_t(i - 1);
        s.large = p.large;
        s.exact = p.doubles(1);
        s.longer = p.plain_long;
        s.longest = (long long)p.larger;
        s.letter = 'n';
        s.raw = 200;
        s.left = State::lives;
        s.map.fill(0.5f);
        s.map.fill([&](int y, int x) { return float(p.mazes(int(now.level % 4), y, x)); });
        s.bytes.fill(uint8_t(3));
        s.flags.fill(true);
        s.moods.fill([](int i, int j) { return i == j ? Mode::walk : Mode::run; });
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng, const nacelle::Episode&) {
        s.a.pos = s.a.pos + Vec2{a.joints[0], a.joints[1]};
        s.bytes[a.cards[0]] = uint8_t(a.cards[1] + a.cards[2]);
        s.flags[2] = a.steering.wheel > 0.0f;
        s.map(1, 2) += a.steering.pedal;
        s.moods(1, 2) = p.modes(0);
        s.exact += double(a.force);
        s.b.pos.y = nacelle::sin(s.a.pos.x) + p.gravity;
        s.left -= rng.chance(0.01f);
        const bool far = s.a.pos.dot(s.a.pos) > 100.0f;
        return {.reward = s.sum(), .terminated = s.left == 0, .truncated = far};
    }
    static void observe(const State& s, const Params& p, Obs& o, const nacelle::Episode& now) {
        o.pos = s.a.pos;
        for (int i = 0; i < 4; ++i) o.corner[i] = s.corner[i];
        for (int i = 0; i < 3; ++i) o.heading[i] = s.grid[0][i];
        o.count = now.step;
        o.alive = s.alive;
        o.image.fill([&](int y, int x, int c) -> uint8_t { return uint8_t(p.mazes(0, y, x) + c + s.bytes[x]); });
        o.rays.fill([&](int i) { return s.map[i]; });
    }
    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        allow.forbid(&Action::cards, 1, 3);
        if (s.left == 1) allow.only(&Action::cards, 2, 4);
    }
    static Log report(const State& s, const Params&, const nacelle::Episode& now) { return {s.a.pos.dot(s.a.pos), s.b.pos, now.step}; }
    static Global overview(const State& s, const Params&) { return {{1, 2, 3, 4, float(s.left)}, s.a.pos}; }
    static void draw(nacelle::Canvas& c, const State& s, const Params&) {
        c.view(-1, -1, 1, 1);
        c.disc(s.a.pos.x, s.a.pos.y, 0.1f, nacelle::colours::red);
        c.text(0, 0, "everything");
    }
    static void prepare(Params& p) {
        p.mazes.fill([](int level, int y, int x) { return uint8_t(level + 10 * y + x); });
        p.open.fill([](int i) { return i % 2 == 1; });
        p.modes.fill([](int i) { return i == 0 ? Mode::run : Mode::walk; });
        p.doubles.fill([](int i) { return 0.125 * i; });
    }
};
NACELLE_ENV(Everything)
)";

}
