#pragma once
#include <learn/layout/blocked.h>
#include <replay/arguments.h>
// What the host and the kernels of learners with a replay share, where the networks are layers of ours.

namespace off_policy {

inline constexpr uint32_t most_layers = 17;    // 16 hidden ones, and the outputs

// Numbers of rows: on a GPU tiles where a product reads them, else floats side by side; on a CPU panels.
struct Matrix {
    learn::TiledMatrix tiles;
    float* floats;
    uint32_t width;    // floats of a row
};

// A layer of some networks that are alike, and where its numbers lie in each of them.
struct Layer {
    uint32_t in, out;
    uint32_t parameter;    // its first one: weights [out][in], then biases
    // On a GPU: slots of the gradient's sum, and the weights as products read them.
    uint32_t pitch, slot_floats, splits, biases;
    uint64_t gradient, tiles, plane;
};
// Networks that are alike and learn together.
struct Networks {
    Layer layer[most_layers];
    uint32_t layers, count, parameters;      // parameters of each
    float *weights, *following, *moments;    // [count][parameters]; those of Adam twice as many
    float *gradient, *total;
    double *updates, *norms;                      // [1], [blocks]
    float *prepared, *prepared_following;         // on a GPU
    uint64_t gradient_floats, prepared_floats;    // of each network
};

// Whether something learns in this update: a number of learn::Found, `stopped`, says that it does not.
enum Gate : uint32_t { of_values, of_policy, gate_count };
NACELLE_INLINE bool is_closed(const double* gates, Gate gate) {
    return gates[uint32_t(gate) * learn::found_count + learn::stopped] != 0;
}

// A step of the optimiser.
struct Step {
    Networks of;
    const double* gates;
    const float* dials;
    double beta1, beta2;
    float epsilon, longest, tau;
    Gate learns, follows;
    uint32_t ranks;
    // Where ranks reach one another's memory and the gradient is not too large for that: its place there, and how many steps
    // a sum takes; else 0 and the communicator adds up.
    learn::Peers* peers;
    uint32_t place, shots;
};

// What an update finds out, over its samples.
enum ValueTally : int32_t { value_loss, value, value_tallies };
enum PolicyTally : int32_t { policy_loss, proposed_value, entropy, policy_tallies };
// The sums of both over all samples of several ranks.
inline constexpr uint32_t all_tallies = uint32_t(value_tallies) + uint32_t(policy_tallies);

struct Arguments {
    replay::Arguments replay;
    replay::Method method;
    // How rows are seen.
    float *mean, *scale;
    double* carried;    // [3][width]: means, squares about them, how many
    uint32_t normalises;
    // What networks see: where environments stand, and of a minibatch.
    Matrix standing, then, now, then_valued, taken, proposed;
    // What they make of it. `then` are following values; of DQN the second one is what learns, at the same rows.
    Matrix choices, then_choices, now_choices, then_values[2], now_values[2];
    Matrix value_slopes[2], policy_slopes, back[2];    // back: along what values see
    float* log_density;                                // [2][size]: of what is drawn, then and now
    double *gates, *value_tallies, *policy_tallies, *found;
    // What several ranks add up beside gradients: tallies, and [2][width] of rows about their means until now; else null.
    double *tallies_of_ranks, *seen_by_ranks;
    learn::Peers* peers;    // null where the communicator adds up all of it
    uint32_t steps_on;      // whether what rows saw before has been added up everywhere
    const double* norms;    // of the gradient of values
    int64_t* updates;
    float *temperature, *temperature_moments, *heaviest;
    double *temperature_updates, *value_updates, *policy_updates;
    double beta1, beta2;
    float epsilon, longest, reward_scale, target_noise, target_noise_bound, target_entropy;
    uint32_t networks;    // of values
    uint32_t outputs;     // of what chooses
    uint32_t norm_count, policy_every;
    uint32_t doubled, duelling, tunes;
};

// A product of one network on a CPU, whose rows lie in panels.
struct LayerProduct {
    const float *weights, *seen;
    float *made, *kept, *slopes, *back, *gradient;
    // Of the layer before: what slopes go back through. Null where there is none.
    const float *back_made, *back_kept;
    uint32_t in, out, rows, first_task;
    uint32_t bends;
};
inline constexpr uint32_t most_layer_products = 4;
struct LayerProducts {
    LayerProduct of[most_layer_products];
    const double* found;    // as in learn::Products
    uint32_t count;
};

}
