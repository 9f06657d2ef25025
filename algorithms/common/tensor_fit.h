#pragma once
#include "algorithms/common/networks.h"

namespace learn {

// What networks ask of tensor cores: the sizes that device/learn/gpu/warp_layers.h, warp_bench.h,
// wide_hall.h and wide_weights.h have for the same layers. A staged update leaves what the layers saw in memory.
struct TensorFit {
    bool staged = false;
    uint32_t threads = 0;          // of an update's block
    uint32_t shared_bytes = 0;     // of an update's block
    uint32_t resident = 1;         // blocks of an update that a multiprocessor has at once
    uint32_t words = 0;            // of prepared weights
    uint32_t sample_words = 0;     // that a staged update keeps of a sample
    uint32_t weight_pieces = 0;    // in which its second kernel goes through the weights
    // Of shared memory for that kernel's block: LoomForm of wide_weights.h.
    static constexpr uint32_t piece_bytes = 4 * 32 * 2 * (8 * 16 + 4) * 4;
    std::string obstacle;    // why it cannot be, or empty

    struct Form {
        int planes = 1;    // of each number
        bool staged = false;
        bool keeps_input = false;    // the activation's slope needs what went into it
    };
    TensorFit(const std::vector<int64_t>& widths, const Form& form);

private:
    void fit_at_once(const std::vector<int64_t>& widths, const Form& form);
    void fit_staged(const std::vector<int64_t>& widths);
};

// Of all networks of a policy, as its settings want it.
TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape);

}
