#pragma once
#include "algorithms/common/networks.h"

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
    std::string obstacle;      // why it cannot be, or empty

    TensorFit() = default;
    TensorFit(const std::vector<int64_t>& widths, int planes, bool keeps_input);
};

// Of all networks of a policy, as its settings want it.
TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape);

// Whether a block of a GPU has room for its teams and for the rows that its warps take through all fused networks.
bool team_fits(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle::Header& header);

}
