#pragma once
#include "algorithms/common/networks.h"

#include <learn/blocked.h>

namespace learn {

// Which widths of blocks a way's products have.
struct BlockWidths {
    bool narrow = false, wide = false;
    void add(int64_t columns, int planes) {
        (columns_for(uint64_t(columns), planes) == 64 ? narrow : wide) = true;
    }
};
struct ProductWidths {
    BlockWidths forward, backward;
    ProductWidths(const NetworkShape& shape, int planes);
};
// Those of weights are always wide.
inline constexpr uint32_t weight_columns = 128;

// The kernels of a streamed policy, as macros of learn/kernels.h.
struct StreamedTexts {
    std::string update, rollout, rest;
};
StreamedTexts streamed_texts(const Settings& settings, const NetworkShape& shape, uint32_t number);

}
