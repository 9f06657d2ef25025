#pragma once
#include <learn/gpu/streamed/hopper.h>
// What a kernel needs of a GPU of capability 9.0 whose levels stay in shared memory.

namespace learn {

#if LEARN_WGMMA
// What two blocks of a cluster share: their barriers and slots lie at the same places of their shared memory.
NACELLE_INLINE uint32_t rank_in_pair() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// All threads of both come together.
NACELLE_INLINE void meet_pair() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;"
                 :
                 :
                 : "memory");
}
// At the barrier of one of them: reads are done, of which nothing else needs to be seen.
NACELLE_INLINE void barrier_arrive_of(uint32_t barrier, uint32_t rank) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}"
                 :
                 : "r"(barrier), "r"(rank)
                 : "memory");
}
// To both of them; the barrier of each counts its bytes.
NACELLE_INLINE void bring_tile_to_pair(uint32_t to, const uint16_t* from, uint32_t bytes,
                                       uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;"
        :
        : "r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(uint16_t(3))
        : "memory");
}
// Threads that have one number meet.
NACELLE_INLINE void meet_some(uint32_t number, uint32_t threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}
// A warpgroup's threads get by with so many registers from here on, or have as many, all of them at once.
template <int registers> NACELLE_INLINE void leave_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
}
template <int registers> NACELLE_INLINE void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
}
// What this thread has written to shared memory is there for copies of tiles and for products.
NACELLE_INLINE void show_shared() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
// And what copies have brought to memory, for copies from there. It empties the cache of the multiprocessor.
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
#define LEARN_C4(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define LEARN_C16(i) LEARN_C4(i), LEARN_C4(i + 1), LEARN_C4(i + 2), LEARN_C4(i + 3)
// 64 rows by 256 columns, 16 steps of the sum.
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[32][4], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
        "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "
        "%125, %126, %127}, %128, %129, 1, 1, 1, %130, %131;"
        : LEARN_C16(0), LEARN_C16(4), LEARN_C16(8), LEARN_C16(12), LEARN_C16(16), LEARN_C16(20),
          LEARN_C16(24), LEARN_C16(28)
        : "l"(a), "l"(b), "n"(int(a_turned)), "n"(int(b_turned)));
}
#undef LEARN_C16
#undef LEARN_C4
#endif

}
