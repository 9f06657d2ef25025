#pragma once
#include <learn/gpu/tile/hopper.h>
// What a kernel needs of a GPU of capability 9.0 whose levels stay in shared memory.

namespace learn {

#if LEARN_WGMMA
// What copies have brought to memory is there, for copies from there. It empties the cache of the multiprocessor.
NACELLE_INLINE void show_all() { asm volatile("fence.proxy.async;" : : : "memory"); }
// Copies to memory: those that a thread has closed as a group have been read, or are there, but for the last few.
NACELLE_INLINE void take_tiles(uint16_t* to, uint32_t from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
NACELLE_INLINE void close_taken() { asm volatile("cp.async.bulk.commit_group;" : : : "memory"); }
NACELLE_INLINE void await_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
}
template <int left> NACELLE_INLINE void await_taken() {
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(left) : "memory");
}
#endif

}
