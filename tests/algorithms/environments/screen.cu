// Two pictures of the same size between numbers, and codes: what convolutions may find in an observation.
#include <nacelle/env.h>

struct Screen {
    static constexpr int time_limit = 5, rows = 6, columns = 5;
    struct Params { float end_chance = 0.05f; };
    struct State { float x; uint32_t cells; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs {
        float x;
        nacelle::Array<uint8_t, rows, columns, 2> cells;    // codes 0 to 4
        nacelle::Array<int8_t, 3> floor;
        nacelle::Array<uint8_t, rows, columns> light;
    };

    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.normal(), rng.bits()}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng& rng) {
        s.x = 0.7f * s.x + 0.4f * float(a.go - 1) + 0.2f * rng.normal();
        s.cells = a.go == 1 ? s.cells : rng.bits();
        return {.reward = s.x + float(s.cells & 3u), .terminated = rng.chance(p.end_chance)};
    }
    static uint32_t mixed(uint32_t x, int at) {
        x = (x ^ uint32_t(at)) * 2654435761u;
        return x >> 13;
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.x = s.x;
        obs.cells.fill([&](int i, int j, int k) -> uint8_t {
            return uint8_t(mixed(s.cells, 10 * i + 2 * j + k) % 5u);
        });
        obs.floor.fill([&](int i) -> int8_t { return int8_t(i - int(s.cells >> 13 & 7u)); });
        obs.light.fill([&](int i, int j) -> uint8_t {
            return uint8_t(mixed(s.cells, 100 + 5 * i + j) & 255u);
        });
    }
};
NACELLE_ENV(Screen)
