#pragma once
#include <nacelle/platform.h>
// The arguments of the engine's own kernels, shared by the host and the kernels.

namespace nacelle {

// Threads of a block, each with one item, in the engine's own kernels.
inline constexpr uint32_t kernel_block = 128;
// Threads that share the filling of tables in prepare().
inline constexpr int prepare_lanes = 16384;

// Where a CPU's step of environments of one agent leaves copies for a caller of what the next step reads; null: nowhere.
struct StepCopies {
    uint8_t *done, *terminated, *truncated;    // done: terminated or truncated
    float* last_return;    // of episodes that have ended; nothing else is written
    int32_t* last_length;
    bool* any_done;    // set where an episode has ended
};

struct StepArgs {
    uint32_t ahead;    // ticks after the clock's
    uint32_t draw;     // 0: actions come from their arrays; 1: drawn at random within the mask
    const StepCopies* copies;    // of a CPU; or null
};

struct ResetArgs {
    enum Form : uint32_t { first_episode, next_episode, save, restore, look };
    uint32_t form, ahead;
    const uint32_t* chosen;    // environments, or null for all of them
    uint32_t count;
    uint32_t places;          // save, restore: snapshots in the pool's arrays
    const uint32_t* place;    // save, restore: of each chosen one; null: 0, 1, 2, ...
};

struct ClockArgs {
    uint64_t by;
};

// Environments whose totals one item of the kernel sums.
inline constexpr int totals_group = 256;
struct TotalsArgs {
    double* sums;     // [groups of environments][4 + logs]
    uint32_t logs;    // numbers of the author's Log
};

// Where an environment's head and parameters are to be copied to, in its own memory.
struct ParamsArgs {
    unsigned char* head;
    unsigned char* params;
};
struct NoArgs {
    uint32_t nothing;
};

// Each is [steps] of what one step has for the rows of a group, the parts of an action one after the
// other.
struct RandomRolloutArgs {
    struct Rows {
        float* obs;
        float* reward;
        uint8_t* ended;     // 1 terminated, 2 truncated
        int32_t* action;    // discrete parts as they are, continuous ones by their bits
    };
    uint32_t ahead, steps;
    Rows group[4];
};

}
