#pragma once
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <learn/layout/arguments.h>
#include <learn/layout/blocked.h>
#include <learn/layout/conv_tiles.h>
#include <learn/layout/fused_layout.h>
#include <learn/layout/memory_layout.h>
#include <learn/layout/resident_layout.h>
#include <optional>

namespace learn {

// Multiprocessors of an H100 or H200: updates are cut for these, whatever the GPU, so that a run repeats on another one.
inline constexpr uint32_t processors = 132, most_clusters = processors / cluster_blocks;
// Clusters are few: with less than a part for each, more and smaller blocks are faster.
inline constexpr uint32_t fewest_cluster_parts = most_clusters - 2;
// Blocks that choose for rows of many numbers, of a multiprocessor: so many registers has a thread.
inline constexpr uint32_t choosers_at_once = 4;
constexpr uint64_t for_warps(uint64_t rows) { return divided_up(rows, warp_rows) * 32; }

// What is so of an owner of kernels: the run, a group or a policy.
enum Fact : uint64_t {
    always = 0,
    on_gpu = 1 << 0,    // or as one, in an emulation
    on_cpu = 1 << 1,
    learning_apart = 1 << 2,    // kernels of learning are a program of their own: on a real GPU
    in_blocks = 1 << 3,         // a rollout's steps in one launch, by a CPU's blocks
    in_warps = 1 << 4,          // or by warps of tensor cores
    in_steps = 1 << 5,          // or a launch for each
    closes_apart = 1 << 6,      // what lies behind the last step is found by a kernel of its own
    images = 1 << 7,            // of a group
    random = 1 << 8,            // of a policy on a GPU, which has no network
    network = 1 << 9,           // of a policy, and so are the others
    fused = 1 << 10,            // on a CPU, too
    streamed = 1 << 11,
    learns = 1 << 12,
    recurrent = 1 << 13,    // the network remembers from step to step
    feedforward = 1 << 14,
    separate = 1 << 15,    // values have a network of their own
    traced = 1 << 16,
    normalises_minibatches = 1 << 17,    // advantages are normalised over each of them
    narrow_forward = 1 << 18,            // products that blocks of 64 columns compute, or of 128
    wide_forward = 1 << 19,
    narrow_backward = 1 << 20,
    wide_backward = 1 << 21,
    layered = 1 << 22,    // a CPU computes the network layer by layer, each a product of its own
    not_layered = 1 << 23,
    behind_another = 1 << 24,    // of a convolution: slopes go on to the one before it
    // All steps of a gru's sequences in one launch, of blocks with room for 64 neurons.
    gru_in_64 = 1 << 25,
    gru_in_128 = 1 << 26,
    gru_in_steps = 1 << 27,    // or launches for each
    in_teams = 1 << 28,        // a rollout's steps in one launch, by teams whose warps choose
    last_at_once = 1 << 30,    // the last layers' part of a gradient is one kernel
    last_apart = 1u << 31,
    in_clusters = 1 << 29,    // some products are for clusters of blocks, where there are many rows
    // Of an update whose layers go through memory: one kernel takes rows through all of them and back, or each is one.
    row_passed = uint64_t(1) << 33,
    by_layers = uint64_t(1) << 34,
    in_memory = uint64_t(1) << 32,    // or by blocks that keep rows which remember in shared memory
    // Or by blocks that keep a network's weights in shared memory, or by teams whose blocks have room for networks.
    in_residence = uint64_t(1) << 35,
    in_team_residence = uint64_t(1) << 36,
    // Of a policy: such blocks take the rows of a step through all layers.
    resides = uint64_t(1) << 37,
    // Slopes of the first layers make their gradient where they are found; a row pass makes that of first and last layers.
    first_at_once = uint64_t(1) << 38,
    ends_at_once = uint64_t(1) << 39,
    // The network is computed elsewhere: there are no kernels of it.
    external = uint64_t(1) << 40,
    // Several processes learn together, and their communicator adds up statistics, or a policy's gradient, between kernels.
    hands_over = uint64_t(1) << 41,
    hands_over_gradient = uint64_t(1) << 42,
    acts = uint64_t(1) << 43,            // of a policy: it is no critic
    values_alone = uint64_t(1) << 44,    // it is one
    overviews = uint64_t(1) << 45,       // of a group: it is that of all environments' overviews
    against_past = uint64_t(1) << 46,    // of a policy: others play its past, or it itself does
    among_ranks = uint64_t(1) << 47,     // of the run: several processes learn together
    // Of a policy: where it chooses it adds up what its group observes. Of a group: that is measured behind a rollout.
    sums_seen = uint64_t(1) << 48,
    measured = uint64_t(1) << 49,
    drafted =
        uint64_t(1) << 50,    // of the run: a draft's, with a launch for each step of an evaluation
    in_pairs = uint64_t(1) << 51,    // what is observed is kept so
};
struct Owner {
    uint64_t facts = 0;
    uint64_t envs = 0, steps = 0;
    uint64_t rows = 0, width = 0;                // of a group or policy: of all environments
    uint64_t kept_parts = 0;                     // of a group's row: numbers, or pairs of them
    uint64_t learners = 0, members = 0;          // of a policy's rows, and of its pool
    uint64_t parameters = 0, slot_floats = 0;    // of a policy's networks
    uint32_t parts = 0, networks = 1;    // of an update: blocks that sum apart, each into a slot
    uint32_t shards = 1;                 // of all of them, which blocks do not share
    int shots = 0;    // in which ranks add up a policy's gradient in one another's memory, or none
    uint64_t sequence = 1;    // samples that stay together
    uint32_t remembering_bytes = 0,
             remembering_threads = 0;    // of the run: a block that takes steps in_memory
    uint64_t learning_blocks = 0;        // of the run: for the agents of all policies that learn
    int planes = 0;
    TensorFit fit{};    // of a fused policy
    uint32_t share =
        1;    // of the run: environments that a CPU's thread takes through a rollout, at least
    int warp_envs = warp_rows;    // of the run: environments of one agent that a warp has
    Choosers choosers{};    // that add up what is seen: of such a policy, and of all of a group
    uint32_t team_threads = 0;     // of a block that has teams and networks
    uint64_t resident_rows = 1;    // of such a block of one policy
    uint64_t resident_blocks = 0;
    uint32_t resident_bytes = 0;       // that keep a network's weights
    uint32_t pass_bytes = 0;           // of shared memory that a block of a row pass has
    Encoder encoder{};                 // of a policy
    uint32_t first_convolution = 0;    // of a streamed one, among those of all policies
    // Of a convolution: whose it is, its place among those, and what blocks of its products take.
    uint32_t policy = 0, layer = 0;
    ConvBlock conv_forward{}, conv_backward{}, conv_weights{};

    bool is(uint64_t all) const { return (facts & all) == all; }
    // Blocks of an update: a GPU's take one of its networks each.
    uint64_t update_blocks() const { return uint64_t(parts) * (is(on_cpu) ? 1 : networks); }
    // Blocks of a GPU that add up a fused update's slots.
    uint64_t sum_blocks() const { return divided_up(slot_floats, total_together); }
    uint64_t last_width = 0;      // of what goes into the last layer
    uint32_t stripe_turns = 0;    // clusters for each stripe of first layers that are at once
    // A block of a cluster: an emulation has no thread that only brings tiles.
    uint32_t threads_of_cluster() const { return cluster_threads(is(learning_apart)); }
    // Threads for so many rows: one each, or 32 for 16 of them.
    uint64_t by_rows(uint64_t count) const { return planes ? for_warps(count) : count; }
};
// For how many neurons a block has room that takes a gru through all steps, or 0 where each step has launches.
inline uint32_t gru_room_of(const Settings& settings, int64_t neurons, int planes) {
    return settings.stepwise ? 0 : gru_room(uint64_t(neurons), planes);
}
struct Owners {
    std::vector<Owner> run, groups, policies, convolutions;    // the run is one
    Owners(const Settings& settings, const std::vector<NetworkShape>& shapes,
           const nacelle_environment& environment);

    // Of a draft of the programs around the author's file: its rollout has a launch for each step, so that little is compiled
    // beside that file. Nothing where the full build's rollout has as many, or plays the past.
    static std::optional<Owners> of_draft(Settings settings,
                                          const std::vector<NetworkShape>& shapes,
                                          const nacelle_environment& environment);

private:
    void add_convolutions(uint32_t number, const PolicySettings& policy);
    void share_sights(uint32_t group, const Settings& settings,
                      const std::vector<NetworkShape>& shapes);
};

}
