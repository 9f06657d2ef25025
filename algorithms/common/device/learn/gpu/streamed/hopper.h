#pragma once
#include <learn/gpu/tensor.h>
// What GPUs of capability 9.0 have for matrix products: copies of whole tiles into shared memory that a barrier waits
// for, and products of four warps whose factors lie there. They need code for sm_90a.

#if defined(__CUDACC_RTC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LEARN_WGMMA 1
#else
#define LEARN_WGMMA 0
#endif

namespace learn {

#if LEARN_WGMMA
NACELLE_INLINE void barrier_begin(uint32_t barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}
NACELLE_INLINE void barriers_begun() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
NACELLE_INLINE void barrier_expect(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
}
NACELLE_INLINE void barrier_arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}
NACELLE_INLINE void barrier_wait(uint32_t barrier, uint32_t phase) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n"
                 "}"
                 :
                 : "r"(barrier), "r"(phase)
                 : "memory");
}
NACELLE_INLINE void bring_tile(uint32_t to, const uint16_t* from, uint32_t bytes,
                               uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :
        : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

NACELLE_INLINE void products_begin() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
NACELLE_INLINE void products_close() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
template <int left> NACELLE_INLINE void products_await() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(left) : "memory");
}
// Where a factor lies: tiles of 64 by 64, their rows of 128 bytes with permuted chunks; columns of tiles are 8 KB apart.
NACELLE_INLINE uint64_t factor_at(uint32_t address) {
    return uint64_t((address & 0x3ffffu) >> 4) | uint64_t(8192 >> 4) << 16 |
           uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
#define LEARN_C4(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
// 64 rows by 64 or 128 columns, 16 steps of the sum.
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[8][4], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, %34, %35;"
                 : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5),
                   LEARN_C4(6), LEARN_C4(7)
                 : "l"(a), "l"(b), "n"(int(a_turned)), "n"(int(b_turned)));
}
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[16][4], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, 1, 1, 1, %66, %67;"
                 : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5),
                   LEARN_C4(6), LEARN_C4(7), LEARN_C4(8), LEARN_C4(9), LEARN_C4(10), LEARN_C4(11),
                   LEARN_C4(12), LEARN_C4(13), LEARN_C4(14), LEARN_C4(15)
                 : "l"(a), "l"(b), "n"(int(a_turned)), "n"(int(b_turned)));
}
#undef LEARN_C4
#endif

}
