#pragma once
#include "plugins/torch/models/models.h"

#include <nacelle/plugin/config.h>

namespace torch_learn {

// What both networks of attention take.
struct TransformerSettings {
    int64_t width, heads, levels;
};
inline TransformerSettings read_transformer(nacelle::plugin::Config& config) {
    const TransformerSettings its = {.width = config.integer("width", 64, 1, 4096),
                                     .heads = config.integer("heads", 4, 1, 64),
                                     .levels = config.integer("layers", 2, 1, 16)};
    if (its.width % its.heads)
        throw std::runtime_error("width: " + std::to_string(its.width) +
                                 " neurons are not shared evenly by " + std::to_string(its.heads) +
                                 " heads");
    return its;
}

}
