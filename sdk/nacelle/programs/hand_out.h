#pragma once
#include <nacelle/platform.h>
// What a step leaves for a caller: copies of arrays in memory of his own, and which episodes have ended. A GPU and the
// host run the same text.

namespace nacelle {

// A copy of these bytes; with a second source each byte is that of the first or the second, as flags are joined.
struct HandedPart {
    void* target;
    const void* first;
    const void* second;
    uint64_t bytes;
};

struct HandOutArgs {
    static constexpr uint32_t threads = 128, most = 16;

    HandedPart part[most];
    uint32_t parts;
};

namespace detail {

// 16 bytes, which a thread moves at once.
struct alignas(16) HandedUnit {
    uint64_t low, high;
};

NACELLE_INLINE uint64_t handed_units(uint64_t bytes) {
    return (bytes + sizeof(HandedUnit) - 1) / sizeof(HandedUnit);
}

NACELLE_INLINE void hand_out_bytes(const HandedPart& part, uint64_t first, uint64_t last) {
    auto* const target = static_cast<uint8_t*>(part.target);
    const auto *const one = static_cast<const uint8_t*>(part.first),
                      *const other = static_cast<const uint8_t*>(part.second);
    for (uint64_t i = first; i < last; ++i) target[i] = other ? uint8_t(one[i] | other[i]) : one[i];
}

#if NACELLE_GPU && !defined(NACELLE_EMULATE)
// The unit of this number, counted over all parts.
NACELLE_INLINE void hand_out_unit(const HandOutArgs& args, uint64_t unit) {
    for (uint32_t k = 0; k < args.parts; ++k) {
        const HandedPart& part = args.part[k];
        const uint64_t units = handed_units(part.bytes), first = unit * sizeof(HandedUnit);
        if (unit >= units) {
            unit -= units;
            continue;
        }
        const bool whole = first + sizeof(HandedUnit) <= part.bytes,
                   aligned =
                       ((uint64_t(part.target) | uint64_t(part.first) | uint64_t(part.second)) &
                        (sizeof(HandedUnit) - 1)) == 0;
        if (whole && aligned) {
            HandedUnit value = static_cast<const HandedUnit*>(part.first)[unit];
            if (part.second) {
                const HandedUnit other = static_cast<const HandedUnit*>(part.second)[unit];
                value = {value.low | other.low, value.high | other.high};
            }
            static_cast<HandedUnit*>(part.target)[unit] = value;
        } else hand_out_bytes(part, first, whole ? first + sizeof(HandedUnit) : part.bytes);
        return;
    }
}
#endif

}

#if NACELLE_GPU && !defined(NACELLE_EMULATE)
#define NACELLE_HAND_OUT()                                                                         \
    extern "C" __global__ void __launch_bounds__(nacelle::HandOutArgs::threads)                    \
        nacelle_hand_out(const __grid_constant__ nacelle::HandOutArgs args) {                      \
        nacelle::detail::hand_out_unit(                                                            \
            args, uint64_t(blockIdx.x) * nacelle::HandOutArgs::threads + threadIdx.x);             \
    }
#endif

}
