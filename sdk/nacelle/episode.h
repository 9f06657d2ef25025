#pragma once
#include <nacelle/random.h>

namespace nacelle {

// A bool that is stored as a byte: g++ 12 keeps a struct with bools in memory where it would keep one
// with bytes in registers, and a loop over environments then does not vectorise.
struct Flag {
    constexpr Flag(bool set = false) : byte(set) {}
    constexpr operator bool() const { return byte != 0; }
    uint8_t byte;
};

// What a step led to, for an environment with one agent.
struct Outcome {
    float reward = 0;
    Flag terminated = false, truncated = false;
};

// What a step led to, for a team.
enum class Ending : uint8_t { running, terminated, truncated };
// What an agent does in the next step: it acts, waits for others, or is out of the game.
enum class Turn : uint8_t { acts, waits, out };

// Which episode an environment is in, and how far: what reset, step and observe may ask for.
struct Episode {
    uint32_t env;       // which environment of the run
    uint32_t number;    // episodes that it has begun before this one
    uint32_t level;     // which level to build, drawn by the engine
    int step;           // 0 in reset, 1 in the first step
    float progress;     // 0 at the start of the run, 1 at its end: for curricula

    // The same level gives the same numbers, whatever the run's seed.
    constexpr Rng level_rng() const { return Rng(0x1e7e1, Domain::level, 0, level); }
};

}
