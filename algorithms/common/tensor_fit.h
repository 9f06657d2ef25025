#pragma once
#include "algorithms/common/networks.h"

namespace learn {

// What a fused network asks of a GPU.
struct TensorFit {
    uint32_t threads = 0;         // of an update's block
    uint32_t shared_bytes = 0;    // of an update's block
    uint32_t resident = 1;        // blocks of an update that a multiprocessor has at once
    uint32_t words = 0;           // of prepared weights
    std::string obstacle;         // why it cannot be, or empty

    TensorFit() = default;
    TensorFit(const std::vector<int64_t>& widths, int planes, bool keeps_input);
};

// Of all networks of a policy, as its settings want it.
TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape);

}
