#pragma once
#include "tests/env/workbench.h"

#include <algorithm>
#include <cstring>
#include <numeric>

// Some of the environments of a batch.
namespace nacelle::test {

// The environments from `begin` on of an array, in the order of a smaller one.
inline std::vector<std::byte> part_of(Environment& env, const NamedArray& array, size_t begin,
                                      size_t count) {
    // A parameter that varies is there twice: as it is in Params, and as an array.
    const std::vector<Field>& fields = env.schema().fields();
    const Field& field = *std::find_if(fields.begin(), fields.end(), [&](const Field& one) {
        return one.slot >= 0 && array.name() == one.name;
    });
    const std::vector<std::byte> all = bytes_of(array);
    const size_t each = env.schema().rows(field, 1), whole = env.schema().rows(field, env.count()),
                 unit = dtype_size(array.dtype()), width = array.count() / whole;
    std::vector<std::byte> part(count * each * width * unit);
    for (size_t i = 0; i < count * each; ++i)
        for (size_t k = 0; k < width; ++k) {
            const bool columns = field.layout == Layout::columns;
            const size_t row = begin * each + i, from = columns ? k * whole + row : row * width + k,
                         to = columns ? k * count * each + i : i * width + k;
            std::memcpy(part.data() + to * unit, all.data() + from * unit, unit);
        }
    return part;
}

// 0 to count - 1
inline std::vector<uint32_t> first_environments(uint32_t count) {
    std::vector<uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0u);
    return list;
}

}
