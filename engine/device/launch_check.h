#pragma once
#include "engine/base/error.h"
#include "engine/device/device.h"

namespace nacelle {

// The number of blocks of a launch. Throws where kernel or shape are invalid.
inline uint64_t checked_blocks(const Kernel& kernel, const LaunchShape& shape) {
    if (!kernel.function) throw Error("launch", "the kernel was never looked up in a module");
    if (shape.items_per_block == 0) throw Error(kernel.name, "items_per_block of its launch is 0");
    return shape.items / shape.items_per_block + (shape.items % shape.items_per_block != 0);
}

}
