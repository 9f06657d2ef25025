#pragma once
#include <nacelle/platform.h>
// What the host and the kernels of random search share.

namespace random_search {

// One set of arguments for all kernels: each reads what it needs.
struct Arguments {
    float* mean;         // [weights]: the policy that is searched for
    float* deviation;    // [weights]
    float* weights;      // [weights][members]
    float* score;        // [envs of all ranks]: the return of an environment's first episode
    uint8_t* over;       // [envs]: whether that episode has ended
    float* fitness;      // [members]
    uint32_t* rank;      // [members]: 0 is the best
    float* metrics;      // [metric_count]
    uint32_t members, episodes, elite, steps, weight_count;
    uint32_t all_envs;    // of all ranks
    float least_deviation;
};

// Of the last population.
enum Metric { mean_return, best_return, elite_return, policy_return, deviation_left, metric_count };

}
