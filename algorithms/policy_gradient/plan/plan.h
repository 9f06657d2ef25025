#pragma once
#include "algorithms/policy_gradient/plan/rollout.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <array>
#include <learn/layout/arguments.h>
#include <learn/layout/blocked.h>
#include <learn/layout/conv_tiles.h>
#include <learn/layout/fused_layout.h>
#include <optional>

// The plan of a run, made once from settings and sizes: for the run, and for each group, policy and convolution.
namespace learn {

// Multiprocessors of an H100 or H200. Updates are cut for this number on every GPU, so that a run repeats on another GPU.
inline constexpr uint32_t processors = 132, most_clusters = processors / cluster_blocks;
// With less than a part for each cluster, more and smaller blocks are faster.
inline constexpr uint32_t fewest_cluster_parts = most_clusters - 2;
// Blocks of a multiprocessor that choose for rows of many numbers: the registers of their threads allow no more.
inline constexpr uint32_t choosers_at_once = 4;
constexpr uint64_t for_warps(uint64_t rows) { return divided_up(rows, warp_rows) * 32; }

// How a policy's network is computed.
enum class Execution {
    random,      // not at all: a GPU draws the actions
    external,    // by another library
    fused,       // in the registers of a GPU's threads, or in the cache of a CPU's core
    streamed,    // layer by layer, through memory
};

struct RunPlan {
    bool on_gpu = false;            // or on a CPU that emulates one
    bool learning_apart = false;    // a real GPU has a program of its own for learning
    bool among_ranks = false;       // several processes learn together,
    bool hands_over = false;        // and their communicator adds up statistics between kernels
    bool keeps_pairs = false;       // kept observations are pairs of bfloat16
    bool learns = false;            // at least one policy learns
    bool drafted = false;           // a draft's evaluation has a launch for each step
    Rollout rollout = Rollout::steps;
    uint64_t envs = 0, steps = 0, shards = 1;
    uint32_t share = 1;              // environments of a CPU's thread, at least
    int warp_envs = warp_rows;       // environments of a warp
    uint32_t threads = 0;            // of a block that takes all steps of a rollout,
    uint32_t shared_bytes = 0;       // and the shared memory of such a block
    uint64_t team_blocks = 0;        // such blocks with teams
    uint64_t learning_blocks = 0;    // for the agents of all policies that learn
};

struct GroupPlan {
    uint64_t rows = 0, width = 0;    // of all environments
    uint64_t kept_parts = 0;         // of a row: numbers, or pairs of numbers
    bool has_images = false;
    bool is_overview = false;    // the group stands for the overviews of all environments
    bool is_measured = true;     // a kernel behind the rollout adds up observations
    Choosers choosers{};         // or the blocks that choose do
};

struct PolicyPlan {
    Execution execution = Execution::fused;
    bool has_network = false, learns = false, remembers = false;
    bool is_critic = false;
    bool separate = false;               // values have a network of their own
    bool traced = false;                 // each epoch computes advantages again
    bool scales_minibatches = false;     // each minibatch normalises its advantages
    bool against_past = false;           // the policy plays its past, or others do
    bool hands_over_gradient = false;    // a communicator adds up the ranks' gradients
    bool layered = false;                // a CPU computes each layer as one product
    uint64_t rows = 0, width = 0;        // of all environments
    uint64_t learners = 0;               // rows that learn
    uint64_t members = 0;                // of the pool
    uint64_t parameters = 0, slot_floats = 0;
    uint32_t networks = 1;
    uint32_t parts = 0;       // blocks of an update with a slot each for their sums
    int shots = 0;            // of a sum in the ranks' memory, or 0
    uint64_t sequence = 1;    // samples that stay together
    int planes = 0;
    Encoder encoder{};
    TensorFit fit{};        // of a fused policy
    Choosers choosers{};    // blocks that choose and add up observations

    // The rest is of streamed policies. Columns of the blocks that compute products.
    struct Columns {
        bool in_64 = false, in_128 = false;
    };
    Columns forward{}, backward{};
    bool in_clusters = false;          // clusters of blocks compute large products
    bool passes_rows = false;          // one kernel takes rows through all layers and back,
    bool ends_at_once = false;         // and makes the first and last layers' gradients
    uint32_t pass_bytes = 0;           // shared memory of a block of that kernel
    bool last_at_once = false;         // one kernel makes the last layers' gradients
    uint64_t last_width = 0;           // inputs of the last layer
    uint32_t stripe_turns = 0;         // clusters for each stripe of the first layers, or 0
    uint32_t first_convolution = 0;    // among the convolutions of all policies
    bool gru_in_64 = false;        // a launch takes a gru of up to 64 neurons through all steps,
    bool gru_in_128 = false;       // or one of up to 128,
    bool gru_in_steps = false;     // or each step has launches
    bool resides = false;          // blocks with weights in shared memory choose
    uint64_t resident_rows = 1;    // rows of such a block
    uint64_t resident_blocks = 0;
    uint32_t resident_bytes = 0;

    bool is_streamed() const { return execution == Execution::streamed; }
    bool sums_seen() const { return choosers.count > 0; }
    bool first_at_once() const { return stripe_turns > 0; }
    // A GPU's blocks that add up the slots of a fused update.
    uint64_t sum_blocks() const { return divided_up(slot_floats, total_together); }
    // Threads for these rows: one each, or a warp for 16 rows.
    uint64_t by_rows(uint64_t count) const { return planes ? for_warps(count) : count; }
};

// A convolution of a streamed policy: the policy's number, the layer's number, and the blocks of its products.
struct ConvPlan {
    uint32_t policy = 0, layer = 0;
    ConvBlock forward{}, backward{}, weights{};
};

// The room for neurons of a block that takes a gru through all steps, or 0 where each step has launches.
inline uint32_t gru_room_of(const Settings& settings, int64_t neurons, int planes) {
    return settings.stepwise ? 0 : gru_room(uint64_t(neurons), planes);
}

struct Plan {
    RunPlan run;
    std::vector<GroupPlan> groups;    // the last one may be the overviews'
    std::vector<PolicyPlan> policies;
    std::vector<ConvPlan> convolutions;

    Plan(const Settings& settings, const std::vector<NetworkShape>& shapes,
         const nacelle_environment& environment);

    // The plan of a draft. A draft's rollout has a launch for each step, so that little code is compiled beside the author's
    // file. There is no draft where the full build has a launch for each step, too, or plays the past.
    static std::optional<Plan> of_draft(Settings settings, const std::vector<NetworkShape>& shapes,
                                        const nacelle_environment& environment);

private:
    void add_groups(const Settings& settings, const nacelle_environment& environment);
    void add_convolutions(uint32_t number, const PolicySettings& policy);
    void share_sights(uint32_t group, const Settings& settings,
                      const std::vector<NetworkShape>& shapes);
};

// The owner of a kernel: the run, or the group, policy or convolution beside it.
struct Place {
    const RunPlan& run;
    const GroupPlan* group = nullptr;
    const PolicyPlan* policy = nullptr;
    const ConvPlan* convolution = nullptr;    // one of the policy's
};

}
