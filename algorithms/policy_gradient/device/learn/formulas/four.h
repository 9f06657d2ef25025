#pragma once
#include <nacelle/platform.h>
#include <nacelle/storage.h>

namespace learn {

// Four neighbours that are read at once, from a multiple of 16 bytes on.
struct alignas(16) Four {
    float at[4];
};
struct alignas(16) FourWords {
    uint32_t at[4];
};
NACELLE_INLINE Four four_at(const float* place) { return *reinterpret_cast<const Four*>(place); }

}
