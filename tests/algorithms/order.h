#pragma once
#include <cstdint>
#include <vector>

namespace nacelle::test {

// The kernels' own order of an epoch's samples; shuffle_test.cpp looks whether it is a good one.
std::vector<uint32_t> shuffled(uint32_t n, uint64_t seed, uint64_t iteration = 0,
                               uint32_t epoch = 0, uint32_t stream = 0);

}
