#pragma once
#include <nacelle/platform.h>
// What the host and the kernels of a policy gradient share.

namespace learn {

inline constexpr int most_groups = 4, most_policies = 8;
// What critics see of environments is normalised like the observations of one more group.
inline constexpr int overview_rows = most_groups;

// Threads of most kernels' blocks; places of a gradient that one adds up on a GPU.
inline constexpr int block_threads = 128, total_together = 32;

// A GPU's blocks of passes over all rows: eight for each multiprocessor of an H100 or H200, whatever the GPU, so that a
// run repeats on another one.
inline constexpr uint32_t most_blocks = 8 * 132;
// Of those that take a step of the optimiser: so many parameters at most for each block of threads.
constexpr uint32_t step_blocks(uint64_t parameters) {
    const uint64_t blocks = (parameters + uint64_t(block_threads) - 1) / uint64_t(block_threads);
    return uint32_t(blocks < most_blocks ? blocks : most_blocks);
}
// Of those that go through the steps of agents, a warp's at a time.
inline constexpr uint32_t agents_together = 32;
constexpr uint32_t agent_blocks(uint64_t agents, uint32_t shards = 1) {
    const uint64_t blocks = (agents / shards + agents_together - 1) / agents_together;
    return shards * uint32_t(blocks < most_blocks ? blocks : most_blocks);
}

// Where a normalised number of an observation, and the logarithm of a deviation, are cut.
inline constexpr float most_normal = 10, least_log_deviation = -10, most_log_deviation = 2;

// The numbers that may change over a run. The device looks them up at the start of each iteration. A gradient
// copies those of the loss, from clip to entropy_weight: they stay side by side.
enum Dial : int32_t {
    learning_rate,
    clip,
    value_clip,
    value_weight,
    entropy_weight,
    gamma,
    lambda,
    most_norm,
    target_kl,
    weight_decay,
    beta1,
    beta2,
    epsilon,
    ratio_bound,
    trace_bound,
    dial_count
};

// Words of a row of observations that is kept as pairs of bfloat16 (kept.h). It begins on 16 bytes.
template <class Number> constexpr Number kept_words(Number width) { return (width + 7) / 8 * 4; }

// How a group's samples are cut for the sums of their observations: chunks of neighbours, each into a slot. On a GPU a
// block has a slab of a chunk's numbers, one for each thread where rows are that wide, else several rows at a time.
struct ObsCut {
    uint64_t samples = 1024, chunks = 0;    // of a chunk, and how many chunks a shard has
    uint64_t slabs = 1, slab = 1;           // of a chunk, and numbers of each
};
// Of so many samples of one shard.
constexpr ObsCut obs_cut(uint64_t samples, uint64_t width, bool gpu) {
    constexpr uint64_t threads = uint64_t(block_threads), warp = 32;
    const auto parts = [](uint64_t all, uint64_t size) { return (all + size - 1) / size; };
    ObsCut cut;
    if (gpu) {
        cut.slabs = parts(width, threads);
        cut.slab = cut.slabs == 1 ? width : parts(parts(width, cut.slabs), warp) * warp;
        const uint64_t chunks = most_blocks > cut.slabs ? most_blocks / cut.slabs : 1,
                       fewest = cut.slab < 32 ? 8 * (threads / cut.slab) : 32;
        cut.samples = parts(samples, chunks);
        if (cut.samples < fewest) cut.samples = fewest;
    }
    cut.chunks = parts(samples, cut.samples);
    return cut;
}

struct Schedule {
    enum Form : int32_t { constant, linear, cosine, exponential };
    int32_t form;
    float from, to;
};

// What a training run carries from iteration to iteration, in doubles: exact, and the same on every
// number of threads.
enum Carried : int32_t {
    updates,        // of the optimiser, so far
    beta1_power,    // the product of all beta1 until now
    beta2_power,
    return_count,    // of the discounted returns seen, with their mean and squares about it
    return_mean,
    return_squares,
    carried_count
};

// What one iteration finds out about one policy.
enum Found : int32_t {
    reward_scale,    // what rewards were multiplied by
    advantage_mean,
    advantage_scale,    // one over their deviation
    explained,          // variance of the targets that the values explain
    stopped,            // 1 where the target KL ended the update
    too_far,            // 1 from the minibatch on that shows it
    update_count,       // updates made in this iteration
    step_scale,         // what the gradient is multiplied by: its mean and its clipping
    gradient_norm,      // of the last update, before clipping
    found_count
};

// Sums over the samples of one update, by each slot.
inline constexpr int tally_parts = 3;    // floats that have all bits of one of them
enum Tally : int32_t {
    weight,    // samples that count
    policy_loss,
    value_loss,
    entropy,
    kl,
    clipped,
    tally_count
};

// How one step of one row ended.
// `unsettled`: the agent's next turn comes only after the rollout ends, so what its choice led to is not known yet.
enum Flag : uint8_t { terminated = 1, truncated = 2, acted = 4, unsettled = 8 };

// What a rollout keeps of a group's rows, [steps][rows].
struct Memory {
    // [steps + 1][rows][width] as the environment gave them, or [steps + 1][rows][pairs of numbers], as kept.h says.
    union {
        float* obs;
        uint32_t* pairs;
    };
    uint8_t* mask;             // [steps][rows][choices], or null
    float* choice;             // [steps][rows][parts]: what was drawn, before bounds
    float* log_probability;    // of the choice
    float* value;              // [steps + 1][rows]
    float* final_value;        // of the observation that a truncated episode ended with
    // The same of such ends, [steps][rows], where values come from a second pass.
    union {
        float* final_obs;
        uint32_t* final_pairs;
    };
    float* reward;
    uint8_t* flag;
    float* advantage;
    float* target;
    float* experience;      // [steps][rows][4]: of learners on tensor cores, what loss.h calls so
    float* running;         // [rows]: the discounted return so far
    float* mean;            // [width]: what is taken off an observation's numbers
    float* scale;           // [width]: what the rest is multiplied by
    float* ratio;           // of a choice's probability now to the one then; null: 1
    double* obs_carried;    // [1 + 3 width]: from 1 on, the means, squares about them, and counts
    double* obs_slots;      // [chunks of samples, or choosing blocks][1 + 2 width]
    float* seen;            // [rows][width], and where episodes ended: of a group that sees images
    float* seen_final;
    uint32_t normalises;    // whether mean and scale follow what is seen
    uint32_t choosers;      // blocks that add it up where they choose; 0: it is, behind a rollout
};

// What it keeps of the environments' overviews where critics see them, under the same names. It lies in the device's memory:
// a launch has room for few arguments.
struct Overviews {
    float *obs, *final_obs;    // [steps + 1][envs][width], [steps][envs][width]
    float *mean, *scale;
    double *obs_carried, *obs_slots;
    uint32_t normalises;
};

// Of a policy that adds up what it sees where it chooses: the slot of its first block, and how many it has.
struct Choosers {
    uint32_t first, count;
};
struct PolicyState {
    float* weights;    // of all networks, layer by layer: weight [out][in], bias [out]
    float* moment;     // Adam's first and second, [2][weights]
    // Of networks that are computed elsewhere, in the place of what kernels of networks need; what rows remember is then
    // that of the policy's agents alone.
    union {
        float* gradient;    // [slots][packed]
        float* standing;    // [agents][width]: what they see
    };
    float* total;    // [weights]: the mean gradient of the minibatch
    union {
        double* norms;         // [blocks of sums]: of the mean gradient's squares
        int32_t* minibatch;    // numbers of its samples
    };
    uint32_t* arrived;    // [1]: blocks of a launch that have left their sums
    double* tallies;      // [slots][tally_count]
    double* sums;         // [tally_count]: of the iteration's updates
    double* slots;        // [blocks of agents][6]: of the returns, then of the advantages
    float* dials;         // [dial_count]
    const Schedule* schedules;
    double* carried;
    double* found;
    union {
        float* prepared;    // a GPU's: weights in the order that its kernels read them
        float* outputs;     // [agents][outputs and the value]
    };
    const int32_t* agent_ids;    // which agents of the group, in one environment
    uint32_t agents_per_env;
    uint32_t agents;    // of all environments
    uint32_t parts;     // of an update: blocks that sum apart, each into a slot
    union {
        uint32_t sum_blocks;    // that add up the slots
        uint32_t memory_width;
    };
    // Of networks that remember; rows are those of the group, `width` what a row remembers.
    float* remembered;    // [rows][width]: before the step to come
    float* acting;        // the same in evaluations, which leave a rollout's rows as they are
    float* begun;         // [steps / sequence][rows][width]: where a sequence began
    union {
        uint8_t* forgot;      // [steps][rows]: whether an episode began with a step
        Choosers choosers;    // of networks that remember nothing
    };
    union {
        float* scratch;      // a CPU's: [parts] of what its sequences leave at all layers
        int32_t* samples;    // [steps][agents]: where they lie among those of the group
    };
    uint32_t scales_rewards;
    uint32_t scales_advantages;    // 0: not, 1: over the iteration, 2: over each minibatch
    float most_reward;             // bound of a scaled reward, 0: none
    float reward_factor;           // where rewards are not scaled by their spread
};

// Who a policy plays: nobody's past; its own, of two agents by turns in learning; or that of the other policy.
enum class Against : uint8_t { none, sides, roles };
// How an opponent is drawn from a pool.
enum class Sample : uint32_t { latest, uniform, hard };
// Neighbouring environments whose episodes that begin in the same iteration have the same opponent, so that the rows which
// a warp or a block takes through a network at once have the same weights.
inline constexpr uint32_t opponents_together = 64;
// Of all rows of a policy that plays the past, those that learn; learners.h says which.
constexpr uint32_t learning_rows(Against past, uint32_t policy, uint32_t rows,
                                 uint32_t rows_of_env) {
    if (past != Against::roles) return past == Against::sides ? rows / 2 : rows;
    const uint32_t envs = rows / rows_of_env, groups = envs / opponents_together;
    return ((groups + 1 - policy) / 2 * opponents_together +
            (groups % 2 == policy ? envs % opponents_together : 0)) *
           rows_of_env;
}
// What the past of a policy did against whoever learned, lately.
enum Result : int32_t { lost, drawn, won, result_count };    // by who learned
// The past of a policy: a ring of members, each with the weights and the normaliser of one moment.
struct PastPool {
    float* weights;         // [members][parameters]
    float* prepared;        // [members][words]: a GPU's, as PolicyState::prepared
    float *mean, *scale;    // [members][width]
    uint64_t* steps;      // [members]: of the run, when it was taken, and one; 0: there is none yet
    uint64_t* ready;      // [members]: those of what is prepared
    uint32_t* results;    // [members][result_count]
    uint32_t* counted;    // where this iteration's are counted: there, or among several ranks apart
    double* summed;       // [members][result_count]: what ranks have counted, as they add it up
    uint32_t* place;      // [1]: of the next member
    double* rating;       // [members + 1]: Elo when it was taken; last, the policy's own now
    int32_t* opponent;    // [environments]: which member plays where the policy does not learn
    int32_t* drawn;       // [groups of environments]: of episodes that begin in this iteration
    uint64_t words, members, every;
    Sample sample;
};

// When an iteration passed these moments, in nanoseconds of a clock of the device's own.
enum Moment : uint32_t { iteration_began, rollout_ended, update_ended, mark_count };

// What play() is asked for: steps, and where to note the first episodes of some environments.
struct Played {
    double* returns;
    int32_t* lengths;
    uint8_t* over;
    uint32_t envs, steps;
};

// Ranks that reach one another's memory add up there (peers.h). Each kind of sums has a place of its own in the memory of
// all ranks: for even and for odd turns, a row of words from each rank and one of sums.
inline constexpr uint32_t most_peers = 16;
enum PeerPlace : uint32_t {
    gradients_of = 0,                       // a policy's
    statistics_of = most_policies,          // a policy's: of its returns, then of its advantages
    observations_of = 2 * most_policies,    // a group's, or the overviews'
    peer_places = 2 * most_policies + most_groups + 1
};
struct PeerSums {
    uint64_t first, words;    // where the place begins, and how many a row has
};
struct Peers {
    // Of each rank, as this one addresses it; the host fills them in.
    uint64_t* memory[most_peers];
    const uint32_t* ended;    // not 0 once nobody answers any more
    uint32_t rank, count;
    uint32_t turns[peer_places];    // exchanges so far
    PeerSums sums[peer_places];
};
// Of a gradient: floats, each layer's begun anew, and doubles behind them: the count of samples for each of so many blocks,
// then all tallies.
constexpr uint64_t peer_floats(uint64_t floats) { return (floats + 127) / 128 * 128; }
constexpr uint64_t peer_tallies(uint64_t blocks) { return blocks + uint64_t(tally_count); }
// How ranks add up a gradient: in one step, in which each sends all of its own to all others, or in two, by way of an owner.
// One step is quicker unless it sends more than 384 KB beyond what two send. Gradients of more than a megabyte are added up
// by the communicator: 0.
constexpr int peer_shots(uint64_t parameters, uint64_t ranks) {
    if (parameters > (uint64_t(1) << 18)) return 0;
    const uint64_t bytes = 8 * parameters;
    return bytes * (ranks - 1) * (ranks - 2) <= (uint64_t(384) << 10) * ranks ? 1 : 2;
}

// What is added up over several ranks between two kernels, beside gradients; null where there is one.
struct OfRanks {
    // [policies][6]: of the advantages; [policies][2]: of the returns; then, for each group [1 + 2 width], the count of its
    // samples and its numbers' sums. Of each number as many as there are ranks, a place for each.
    double* sums;
    Peers* peers;    // null where the communicator adds up all of it

    static constexpr uint64_t returns = 6 * most_policies, obs = 8 * most_policies;
};

struct Arguments {
    Memory memory[most_groups];
    // Only one of both is ever there; a launch has room for 4,096 bytes of arguments.
    union {
        const Overviews* overviews;    // null where no critic sees them
        PastPool* pools;               // [policies]; null where no policy plays the past
    };
    PolicyState policy[most_policies];
    uint64_t* iteration;
    uint64_t* marks;    // [mark_count]
    uint32_t steps, epochs, minibatches;
    uint32_t epoch, minibatch;
    uint32_t sequence;    // steps through which networks that remember learn at once
    uint16_t greedy;      // of act and play
    uint16_t rank;        // this one's place among several
    uint32_t step;        // of a rollout of one launch a step
    Played played;
    OfRanks of_ranks;
};

}
