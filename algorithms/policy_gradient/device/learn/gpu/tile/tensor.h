#pragma once
#include <learn/formulas/activation.h>
// What the tensor cores do, a warp at a time: products of tiles of 16 by 16 and 16 by 8 numbers in
// bfloat16, summed in 32-bit floats. Lane 4 g + t holds of
//   A (16 x 16)  rows g and g + 8, columns 2t, 2t + 1 and those + 8:  [g, 2t] [g + 8, 2t] [g, 2t + 8] [g + 8, 2t + 8]
//   B (16 x 8)   rows 2t, 2t + 1 and those + 8, column g
//   C (16 x 8)   rows g (0, 1) and g + 8 (2, 3), columns 2t, 2t + 1
// two neighbours in a word, the first one in its lower half. A and C fit together: two tiles of outputs are
// one of inputs for the next layer, in the same lanes.
//
// A 32-bit float is the sum of three such numbers, of 8 bits each: three planes. The product of two floats is then
// that of planes p and q for every p + q < 3; the others are below its last bit.

namespace learn {

NACELLE_INLINE float low_half(uint32_t pair) { return __builtin_bit_cast(float, pair << 16); }
NACELLE_INLINE float high_half(uint32_t pair) {
    return __builtin_bit_cast(float, pair & 0xffff0000u);
}

// The bits of most_normal twice.
inline constexpr uint32_t most_pair = 0x41204120u;
static_assert(__builtin_bit_cast(float, most_pair & 0xffff0000u) == most_normal);

#if defined(__CUDACC_RTC__)
NACELLE_INLINE uint32_t pair_of(float low, float high) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
// Both numbers, cut to what networks see at most.
NACELLE_INLINE uint32_t cut_pair(uint32_t pair) {
    constexpr uint32_t most = most_pair;
    asm("min.bf16x2 %0, %0, %1;" : "+r"(pair) : "r"(most));
    asm("max.bf16x2 %0, %0, %1;" : "+r"(pair) : "r"(most | 0x80008000u));
    return pair;
}
NACELLE_INLINE uint32_t tanh_of(uint32_t pair) {
#if __CUDA_ARCH__ >= 900
    uint32_t bounded;
    asm("tanh.approx.bf16x2 %0, %1;" : "=r"(bounded) : "r"(pair));
    return bounded;
#else
    float low, high;
    asm("tanh.approx.f32 %0, %1;" : "=f"(low) : "f"(low_half(pair)));
    asm("tanh.approx.f32 %0, %1;" : "=f"(high) : "f"(high_half(pair)));
    return pair_of(low, high);
#endif
}
NACELLE_INLINE void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
NACELLE_INLINE void bring_near(const void* place) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(place));
}
NACELLE_INLINE uint32_t shared_address(const void* place) {
    return uint32_t(__cvta_generic_to_shared(place));
}
// Four tiles of 8 by 8 out of shared memory; lane i says where row i % 8 of tile i / 8 begins. Turned: each
// lane gets what lies across.
template <bool turned> NACELLE_INLINE void load_tiles_at(uint32_t (&to)[4], uint32_t row) {
    if constexpr (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(row));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(row));
}
template <bool turned> NACELLE_INLINE void load_tiles(uint32_t (&to)[4], const void* row) {
    load_tiles_at<turned>(to, shared_address(row));
}
#if __CUDA_ARCH__ >= 900
NACELLE_INLINE void store_tiles_at(uint32_t row, const uint32_t (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}
#endif
// The other way: each lane's words of four tiles to where lane i says that row i % 8 of tile i / 8 begins.
NACELLE_INLINE void store_tiles(void* row, const uint32_t (&from)[4]) {
#if __CUDA_ARCH__ >= 900
    store_tiles_at(shared_address(row), from);
#else
    const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    const uint64_t mine = uint64_t(row);
    for (int tile = 0; tile < 4; ++tile)
        reinterpret_cast<uint32_t*>(__shfl_sync(~0u, mine, 8 * tile + g))[t] = from[tile];
#endif
}
// Sixteen bytes on their way from memory to shared memory, or zeros; those of a group arrive together, and of
// the groups that a thread has closed it waits until all but the last few are there.
NACELLE_INLINE void bring_async(void* to, const void* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}
NACELLE_INLINE void close_group() { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <int left> NACELLE_INLINE void await_groups() {
    asm volatile("cp.async.wait_group %0;" : : "n"(left) : "memory");
}
#else
// The same on a CPU, for tests; called, since a wide network has thousands of them.
NACELLE_INLINE void bring_near(const void*) {}
NACELLE_INLINE uint32_t rounded(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
NACELLE_INLINE uint32_t pair_of(float low, float high) {
    return rounded(low) | rounded(high) << 16;
}
NACELLE_INLINE uint32_t cut_pair(uint32_t pair) {
    return pair_of(clamp(low_half(pair), -most_normal, most_normal),
                   clamp(high_half(pair), -most_normal, most_normal));
}
NACELLE_INLINE uint32_t tanh_of(uint32_t pair) {
    return pair_of(tanh(low_half(pair)), tanh(high_half(pair)));
}
// Vectors, and one lane computes the product for all, since most of a test's time goes into this.
[[gnu::noinline]] inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                       uint32_t b1) {
    typedef float Half __attribute__((vector_size(32), may_alias));    // of a column
    struct Tiles {
        float a[16][16];    // by columns
        float b[16][8];
        float product[8][16];    // by columns
    };
    const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    Tiles& tiles = emulate::place_for_all<Tiles>();
    const int first = 2 * t, later = first + 8;
    tiles.a[first][g] = low_half(a[0]);
    tiles.a[first + 1][g] = high_half(a[0]);
    tiles.a[first][g + 8] = low_half(a[1]);
    tiles.a[first + 1][g + 8] = high_half(a[1]);
    tiles.a[later][g] = low_half(a[2]);
    tiles.a[later + 1][g] = high_half(a[2]);
    tiles.a[later][g + 8] = low_half(a[3]);
    tiles.a[later + 1][g + 8] = high_half(a[3]);
    tiles.b[first][g] = low_half(b0);
    tiles.b[first + 1][g] = high_half(b0);
    tiles.b[later][g] = low_half(b1);
    tiles.b[later + 1][g] = high_half(b1);
    if (emulate::meet_and_lead()) {
        const Half* const halves = reinterpret_cast<const Half*>(tiles.a);
        Half* const products = reinterpret_cast<Half*>(tiles.product);
        for (int j = 0; j < 8; ++j) {
            Half upper = {}, lower = {};
            for (int k = 0; k < 16; ++k) {
                upper += halves[2 * k] * tiles.b[k][j];
                lower += halves[2 * k + 1] * tiles.b[k][j];
            }
            products[2 * j] = upper;
            products[2 * j + 1] = lower;
        }
    }
    c[0] += tiles.product[first][g];
    c[1] += tiles.product[first + 1][g];
    c[2] += tiles.product[first][g + 8];
    c[3] += tiles.product[first + 1][g + 8];
}
template <bool turned>
[[gnu::noinline]] inline void load_tiles(uint32_t (&to)[4], const void* row) {
    const void* rows[32];
    emulate::exchange(row, rows);
    const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    for (int tile = 0; tile < 4; ++tile) {
        const auto at = [&](int i, int k) {
            return uint32_t(static_cast<const uint16_t*>(rows[8 * tile + i])[k]);
        };
        to[tile] =
            turned ? at(2 * t, g) | at(2 * t + 1, g) << 16 : at(g, 2 * t) | at(g, 2 * t + 1) << 16;
    }
}
[[gnu::noinline]] inline void store_tiles(void* row, const uint32_t (&from)[4]) {
    void* rows[32];
    emulate::exchange(row, rows);
    const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    for (int tile = 0; tile < 4; ++tile) static_cast<uint32_t*>(rows[8 * tile + g])[t] = from[tile];
}
inline void bring_async(void* to, const void* from, bool there) {
    for (int k = 0; k < 4; ++k)
        static_cast<uint32_t*>(to)[k] = there ? static_cast<const uint32_t*>(from)[k] : 0;
}
inline void close_group() {}
template <int> inline void await_groups() {}
#endif

// Two neighbours in planes, the first one being what they are rounded to, each other one what is left.
template <int planes> struct Planes {
    uint32_t at[planes];

    NACELLE_INLINE float low() const {
        float sum = low_half(at[0]);
        NACELLE_UNROLL for (int p = 1; p < planes; ++p) sum += low_half(at[p]);
        return sum;
    }
    NACELLE_INLINE float high() const {
        float sum = high_half(at[0]);
        NACELLE_UNROLL for (int p = 1; p < planes; ++p) sum += high_half(at[p]);
        return sum;
    }
};
template <int planes> NACELLE_INLINE Planes<planes> planes_of(float low, float high) {
    Planes<planes> pair;
    NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
        pair.at[p] = pair_of(low, high);
        low -= low_half(pair.at[p]);
        high -= high_half(pair.at[p]);
    }
    return pair;
}

// Activations of two neighbours as a pair, and the slope at one of them from what went in or came out.
template <Activation f> struct PairCurve {
    static NACELLE_INLINE uint32_t at(float a, float b) {
        if constexpr (f == Activation::tanh) return tanh_of(pair_of(a, b));
        else if constexpr (f == Activation::relu) return pair_of(max(a, 0.0f), max(b, 0.0f));
        else if constexpr (f == Activation::silu) {
            const uint32_t bounded = tanh_of(pair_of(0.5f * a, 0.5f * b));
            return pair_of(a * fused(0.5f, low_half(bounded), 0.5f),
                           b * fused(0.5f, high_half(bounded), 0.5f));
        } else {
            static_assert(f == Activation::gelu);
            const uint32_t bounded = tanh_of(pair_of(inner(a), inner(b)));
            return pair_of(0.5f * a * (1.0f + low_half(bounded)),
                           0.5f * b * (1.0f + high_half(bounded)));
        }
    }
    static NACELLE_INLINE float inner(float x) {
        using C = Curve<Activation::gelu>;
        return C::steep * x * (1.0f + C::cubic * x * x);
    }
    static NACELLE_INLINE float slope(float input, float output) {
        return Curve<f>::slope(input, output);
    }
};
// The same with as many planes as there are: with several of them as exact as they are.
template <Activation f, int planes> NACELLE_INLINE Planes<planes> activated_pair(float a, float b) {
    if constexpr (planes == 1) return {{PairCurve<f>::at(a, b)}};
    else return planes_of<planes>(Curve<f>::at(a), Curve<f>::at(b));
}

}
