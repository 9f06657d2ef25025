#pragma once
#include <learn/gpu/tile/tensor.h>
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

// What a cluster of two blocks shares: each block's barriers and stages lie at the same places of its shared memory.
NACELLE_INLINE uint32_t rank_in_cluster() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// All threads of both blocks come together.
NACELLE_INLINE void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;"
                 :
                 :
                 : "memory");
}
// It tells of reads that are done; a fence for more of the GPU would take longer than they do.
NACELLE_INLINE void barrier_arrive_in(uint32_t barrier, uint32_t rank) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}"
                 :
                 : "r"(barrier), "r"(rank)
                 : "memory");
}
// To both blocks of a cluster; each one's barrier counts the bytes.
NACELLE_INLINE void bring_tile_to_both(uint32_t to, const uint16_t* from, uint32_t bytes,
                                       uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;"
        :
        : "r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(uint16_t(3))
        : "memory");
}
// A tile on its way from shared memory to memory. A thread may wait until all but the last few of its tiles have been
// read, or until all of them have arrived.
NACELLE_INLINE void send_tile(uint16_t* to, uint32_t from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;"
                 :
                 : "l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
template <int left> NACELLE_INLINE void await_sent() {
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(left) : "memory");
}
NACELLE_INLINE void await_arrived() { asm volatile("cp.async.bulk.wait_group 0;" : : : "memory"); }
// What threads have stored in shared memory is there for copies of tiles.
NACELLE_INLINE void show_to_copies() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
// Four warps leave registers to others, or wait for these.
template <int count> NACELLE_INLINE void keep_few_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}
template <int count> NACELLE_INLINE void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}
// So many threads of a block meet at one of its barriers by number; who arrives goes on.
NACELLE_INLINE void meet_at(uint32_t number, uint32_t threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}
NACELLE_INLINE void arrive_at(uint32_t number, uint32_t threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
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
// 64 rows by 64, 128, 192 or 256 columns, 16 steps of the sum; it begins at zero unless it adds.
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[8][4], uint64_t a, uint64_t b, uint32_t adds = 1) {
    asm volatile(
        "{\n"
        ".reg .pred adds;\n"
        "setp.ne.b32 adds, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, adds, 1, 1, %35, %36;\n"
        "}"
        : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5), LEARN_C4(6),
          LEARN_C4(7)
        : "l"(a), "l"(b), "r"(adds), "n"(int(a_turned)), "n"(int(b_turned)));
}
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[16][4], uint64_t a, uint64_t b, uint32_t adds = 1) {
    asm volatile(
        "{\n"
        ".reg .pred adds;\n"
        "setp.ne.b32 adds, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, adds, 1, 1, %67, %68;\n"
        "}"
        : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5), LEARN_C4(6),
          LEARN_C4(7), LEARN_C4(8), LEARN_C4(9), LEARN_C4(10), LEARN_C4(11), LEARN_C4(12),
          LEARN_C4(13), LEARN_C4(14), LEARN_C4(15)
        : "l"(a), "l"(b), "r"(adds), "n"(int(a_turned)), "n"(int(b_turned)));
}
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[24][4], uint64_t a, uint64_t b, uint32_t adds = 1) {
    asm volatile(
        "{\n"
        ".reg .pred adds;\n"
        "setp.ne.b32 adds, %98, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
        "%87, %88, %89, %90, %91, %92, %93, %94, %95}, "
        "%96, %97, adds, 1, 1, %99, %100;\n"
        "}"
        : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5), LEARN_C4(6),
          LEARN_C4(7), LEARN_C4(8), LEARN_C4(9), LEARN_C4(10), LEARN_C4(11), LEARN_C4(12),
          LEARN_C4(13), LEARN_C4(14), LEARN_C4(15), LEARN_C4(16), LEARN_C4(17), LEARN_C4(18),
          LEARN_C4(19), LEARN_C4(20), LEARN_C4(21), LEARN_C4(22), LEARN_C4(23)
        : "l"(a), "l"(b), "r"(adds), "n"(int(a_turned)), "n"(int(b_turned)));
}
template <bool a_turned, bool b_turned>
NACELLE_INLINE void multiply_tiles(float (&c)[32][4], uint64_t a, uint64_t b, uint32_t adds = 1) {
    asm volatile(
        "{\n"
        ".reg .pred adds;\n"
        "setp.ne.b32 adds, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
        "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, "
        "%103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "
        "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, adds, 1, 1, %131, %132;\n"
        "}"
        : LEARN_C4(0), LEARN_C4(1), LEARN_C4(2), LEARN_C4(3), LEARN_C4(4), LEARN_C4(5), LEARN_C4(6),
          LEARN_C4(7), LEARN_C4(8), LEARN_C4(9), LEARN_C4(10), LEARN_C4(11), LEARN_C4(12),
          LEARN_C4(13), LEARN_C4(14), LEARN_C4(15), LEARN_C4(16), LEARN_C4(17), LEARN_C4(18),
          LEARN_C4(19), LEARN_C4(20), LEARN_C4(21), LEARN_C4(22), LEARN_C4(23), LEARN_C4(24),
          LEARN_C4(25), LEARN_C4(26), LEARN_C4(27), LEARN_C4(28), LEARN_C4(29), LEARN_C4(30),
          LEARN_C4(31)
        : "l"(a), "l"(b), "r"(adds), "n"(int(a_turned)), "n"(int(b_turned)));
}
#undef LEARN_C4
#endif

}
