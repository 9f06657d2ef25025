#pragma once
#include <learn/layout/arguments.h>
// What the host and the kernels of learners with a replay share.

namespace replay {

// What a network's outputs mean.
enum class Form : uint32_t {
    values,    // of each choice; the best one, or now and then any
    scores,    // of each choice, whose probabilities are their softmax
    means,     // of each real number, bent by tanh, with noise beside it
    normal,    // means and, behind them, logarithms of deviations
};

// What learns from minibatches.
enum class Method : uint32_t { dqn, sac, td3, ddpg };

// The numbers that may change over a run.
enum Dial : int32_t { learning_rate, gamma, exploration, correction, temperature, dial_count };

// Of a tree of sums, each of so many numbers.
inline constexpr uint32_t branches = 32, most_levels = 6;
inline constexpr uint64_t most_leaves = uint64_t(1)
                                        << 30;    // branches to the power of most_levels
static_assert(most_leaves ==
              uint64_t(branches) * branches * branches * branches * branches * branches);

// The steps that are kept, a slot for each step of all rows, the oldest overwritten by the newest.
struct Ring {
    float* obs;            // [slots][rows][width]
    float* next_obs;       // the same: where the step led, also where it ended an episode
    float* action;         // [slots][rows][parts]: choices, or real numbers in [-1, 1]
    float* reward;         // [slots][rows]
    uint8_t* flag;         // of learn::Flag
    uint8_t* mask;         // [slots][rows][choices], or null
    uint8_t* next_mask;    // all open where an episode ended: nobody says what was open there
    uint64_t* steps;       // [1]: taken so far
    uint32_t slots, rows;
    uint32_t width, parts, choices;
};

// Sums of priorities. Level 0 has those of the steps, [slots][rows]; a number of each further one is the sum of 32.
struct Tree {
    float* leaf;                 // null: all are as likely
    double* sum[most_levels];    // from level 1 on
    uint64_t count[most_levels + 1];
    uint32_t levels;     // above the leaves
    float* most;         // [1]: what a new step begins with
    uint64_t* summed;    // [1]: the steps, of all so far, that the sums know of
};

// A minibatch: what this rank has of it.
struct Batch {
    int64_t* place;     // [size]: of the first step, in the ring
    int64_t* last;      // of the last one
    float* reward;      // discounted, of all its steps
    float* discount;    // of what comes behind them; 0: nothing does
    float* obs;         // [size][width]
    float* next_obs;
    float* action;    // [size][parts]
    uint8_t* mask;    // [size][choices], or null
    uint8_t* next_mask;
    float* weight;      // of each sample: how much less likely it would have been; null: 1
    float* priority;    // what it is told to be from now on
    float* noise;       // [2][size][reals], or null
    uint32_t size, noise_size;
};

struct Arguments {
    Ring ring;
    Tree tree;
    Batch batch;
    float* standing;    // [rows][width]: what agents see
    float* outputs;     // [rows][outputs], of the network that chooses
    float* dials;       // [dial_count]
    const learn::Schedule* schedules;
    uint64_t warm_up;    // steps of all rows that are taken at random
    float least_exploration, alpha, least_log_deviation, most_log_deviation;
    uint32_t n_step, noise_steps;
    Form form;
    uint32_t trains, greedy;    // of a choice
    uint32_t update;            // its number within the iteration
    uint32_t level;             // of the tree
    uint32_t from_batch;        // whether a tree follows a minibatch or the newest steps
    // Of the processes that train together: each has a replay of its own environments, and draws its part of a minibatch.
    uint32_t rank, ranks;
};

// Rows, and samples of a minibatch, of all ranks.
NACELLE_INLINE uint64_t rows_of_all(const Arguments& a) { return uint64_t(a.ring.rows) * a.ranks; }
NACELLE_INLINE float samples_of_all(const Arguments& a) {
    return float(uint64_t(a.batch.size) * a.ranks);
}

}
