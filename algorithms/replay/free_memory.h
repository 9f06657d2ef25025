#pragma once
#include <cstdint>

namespace replay {

// What is free of the machine's memory, or of the GPU's whose context is current.
uint64_t free_bytes(bool on_gpu);

}
