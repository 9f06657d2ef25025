// Find the way to a maze's goal, seeing only what is near.
//
// The mazes come from a file, from the easiest to the hardest: one byte per cell, 0 floor, 1 wall,
// 2 goal; what lies outside is wall. Each is met in eight ways, mirrored and turned by quarters,
// since networks learn few mazes by heart; with ways = 1 all are as drawn. An episode starts on a
// random floor cell. An action goes one cell, and a wall stops it. A step costs step_cost; the goal
// pays 1 and ends the episode. The run starts with the first `easiest` mazes and opens the others
// evenly, the last one at its end.
#include <nacelle/env.h>

struct Mazes {
    static constexpr int time_limit = nacelle::constant("time_limit", 400);
    static constexpr int side = 15, view = 9;
    enum : uint8_t { floor, wall, goal };

    struct Params {
        float step_cost = 0.001f;
        int easiest = 32, ways = 8;
        nacelle::Table<uint8_t, nacelle::any, side, side> mazes;
    };
    struct State {
        int level, way, x, y;                               // way: one of eight
        bool solved;
    };
    struct Action { nacelle::Discrete<4> go; };             // 0 left, 1 right, 2 up, 3 down
    struct Obs {
        nacelle::Array<uint8_t, view, view> image;          // cells around the agent, in the middle
        float x, y;
    };
    struct Log { float level, solved; };

    static void reset(State& s, const Params& p, nacelle::Rng& rng, const nacelle::Episode& now) {
        const int all = p.mazes.size();
        const int open = p.easiest + int(now.progress * float(all - p.easiest));
        const uint32_t levels = uint32_t(nacelle::clamp(open, 1, all));
        s.level = int(now.level % levels);
        s.way = int(now.level / levels % uint32_t(nacelle::clamp(p.ways, 1, 8)));
        s.solved = false;

        int tries = 0;                                      // a file may hold a maze without floor
        do {
            s.x = rng.below(side);
            s.y = rng.below(side);
        } while (cell(s, p, s.x, s.y) != floor && ++tries < 1000);
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const int x = s.x + (action.go == 1) - (action.go == 0);
        const int y = s.y + (action.go == 3) - (action.go == 2);
        const uint8_t there = cell(s, p, x, y);

        s.x = there == wall ? s.x : x;
        s.y = there == wall ? s.y : y;
        s.solved = there == goal;
        return {.reward = s.solved ? 1.0f : -p.step_cost, .terminated = s.solved};
    }

    static void observe(const State& s, const Params& p, Obs& obs) {
        obs.image.fill([&](int row, int column) -> uint8_t {
            return cell(s, p, s.x + column - view / 2, s.y + row - view / 2);
        });
        obs.x = float(s.x) / float(side);
        obs.y = float(s.y) / float(side);
    }

    static Log report(const State& s, const Params&) { return {float(s.level), float(s.solved)}; }

    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        namespace colours = nacelle::colours;
        canvas.view(0, side, side, 0);                      // row 0 is on top
        for (int row = 0; row < side; ++row)
            for (int column = 0; column < side; ++column) {
                const float x = float(column), y = float(row);
                const uint8_t here = cell(s, p, column, row);
                canvas.box(x, y, x + 1, y + 1,
                           here == wall   ? colours::black
                           : here == goal ? colours::green
                                          : colours::white);
            }
        const float x = float(s.x) + 0.5f, y = float(s.y) + 0.5f, sight = 0.5f * view;
        canvas.box(x - sight, y - sight, x + sight, y + sight,
                   nacelle::faded(colours::yellow, 0.3f));
        canvas.disc(x, y, 0.35f, colours::blue);
    }

    static uint8_t cell(const State& s, const Params& p, int x, int y) {
        const bool inside = x >= 0 && x < side && y >= 0 && y < side;
        const int column = s.way & 1 ? side - 1 - x : x, row = s.way & 2 ? side - 1 - y : y;
        const bool turned = s.way & 4;
        return inside ? p.mazes(s.level, turned ? column : row, turned ? row : column)
                      : uint8_t(wall);
    }
};
NACELLE_ENV(Mazes)
