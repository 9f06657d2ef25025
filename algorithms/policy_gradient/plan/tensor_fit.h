#pragma once
#include "algorithms/policy_gradient/plan/networks.h"

namespace learn {

// What a fused network asks of a GPU.
struct TensorFit {
    uint32_t threads = 0;         // of an update's block
    uint32_t shared_bytes = 0;    // of an update's block
    uint32_t resident = 1;        // blocks of an update that a multiprocessor has at once
    uint32_t words = 0;           // of prepared weights
    uint32_t band_bytes =
        0;    // of 16 rows that a warp takes through the layers, outside of an update
    bool in_chunks = false;    // whether rows go into the first layer a part at a time
    bool sums_seen = false;    // and a block of choices has room for sums of all their numbers
    bool takes_pairs =
        false;    // and rows that are kept as pairs, several parts of which are on their way
    bool rolled = false;     // whether its layers are loops over tiles
    std::string obstacle;    // why it cannot be, or empty

    TensorFit() = default;
    TensorFit(const std::vector<int64_t>& widths, int planes, bool keeps_input);
};

// Shared memory that a block of a GPU of this capability can have; an emulation, which has none, has that of an H200.
int64_t shared_bytes_of(uint32_t compute);
// Whether kernels for Hopper run there, its tensor cores and clusters of blocks; an emulation goes through their text.
bool is_hopper(const nacelle_environment& environment, bool emulates);

// Of all networks of a policy, as its settings want it and a GPU of this capability can have it.
TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape, uint32_t compute);

// Room for a policy's weights as a GPU's kernels read them; the second network begins on 64 words.
uint64_t prepared_floats(const NetworkShape& shape, const PolicySettings& policy);

// Bytes of a GPU's block that keeps the weights of a policy's first network in shared memory, whose layers else go
// through memory, and takes so many rows through it; 0 where there is no room for that.
uint32_t resident_bytes(const PolicySettings& policy, const NetworkShape& shape,
                        const nacelle_environment& environment, int rows);
// Of one that takes the environments of one agent through all steps; it brings weights over and over where they have no
// room, unless launches for each layer and step are quicker.
uint32_t residence_bytes(const PolicySettings& policy, const NetworkShape& shape,
                         const nacelle_environment& environment);

// Of one that has teams, and room for the networks of all their policies that have any.
uint32_t team_residence_bytes(const Settings& settings, const std::vector<NetworkShape>& shapes,
                              const nacelle_environment& environment);
// Why one kernel cannot take rows through all layers and back, or empty; and the shared memory of its blocks.
std::string row_pass_obstacle(const PolicySettings& policy, const NetworkShape& shape,
                              const nacelle_environment& environment, bool emulates);
uint32_t row_pass_bytes_of(const NetworkShape& shape, int planes);

// Whether a block of a GPU has room for its teams and for the rows that its warps take through all fused networks.
bool team_fits(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle::Header& header);

}
