#pragma once
#include "algorithms/common/networks.h"

namespace learn {

// What fused networks ask of a GPU: the sizes that device/learn/gpu/fused/layers.h and update_stage.h have for the same
// layers.
struct TensorFit {
    uint32_t threads = 0;         // of an update's block
    uint32_t shared_bytes = 0;    // of an update's block
    uint32_t resident = 1;        // blocks of an update that a multiprocessor has at once
    uint32_t words = 0;           // of prepared weights
    std::string obstacle;         // why it cannot be, or empty

    struct Form {
        int planes = 1;              // of each number
        bool keeps_input = false;    // the activation's slope needs what went into it
    };
    TensorFit() = default;
    TensorFit(const std::vector<int64_t>& widths, const Form& form);

private:
    void fit_update(const std::vector<int64_t>& widths, const Form& form);
};

// Of all networks of a policy, as its settings want it.
TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape);

}
