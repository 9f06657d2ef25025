#pragma once
#include "algorithms/common/networks.h"

namespace learn {

// What a policy's networks ask of tensor cores: the sizes that device/learn/gpu/warp_layers.h and
// warp_update.h have for the same layers.
struct TensorFit {
    uint32_t threads = 0;         // of an update's block
    uint32_t shared_bytes = 0;    // of an update's block
    uint32_t units = 0;           // pairs of tiles of sums that one of its warps keeps
    uint32_t words = 0;           // of prepared weights
    bool too_wide = false;

    explicit TensorFit(const std::vector<int64_t>& widths);
    // Whether a GPU's processor has room for it, and else why not.
    std::string obstacle() const;
};

// Of all of a policy's networks: an empty text where they fit.
std::string tensor_obstacle(const NetworkShape& shape);

}
