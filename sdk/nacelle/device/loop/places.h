#pragma once
#include <nacelle/platform.h>
// Which flags are set, on a CPU.

namespace nacelle::detail {

#if !NACELLE_GPU
// Stores the places of the flags that are 1, in their order, and returns how many there are; the others are 0. A product
// makes bits of eight flags, and one branch is taken for 64: processors mispredict one for each flag at every end of an episode.
inline int places_of(const uint8_t* flags, int count, int* places) {
    int found = 0, first = 0;
    for (; first + 64 <= count; first += 64) {
        uint64_t bits = 0;
        for (int byte = 0; byte < 8; ++byte) {
            uint64_t eight;
            __builtin_memcpy(&eight, flags + first + 8 * byte, sizeof eight);
            bits |= eight * 0x0102040810204080 >> 56 << 8 * byte;
        }
        for (; bits; bits &= bits - 1) places[found++] = first + __builtin_ctzll(bits);
    }
    for (; first < count; ++first)
        if (flags[first]) places[found++] = first;
    return found;
}
#endif

}
