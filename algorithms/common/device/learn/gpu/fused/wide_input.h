#pragma once
#include <learn/gpu/fused/layers.h>
// A first layer that sees many numbers. A warp reads 64 numbers of 16 rows at a time from where they are kept, each
// row's side by side, and adds up their products; what the other layers see stays in registers.

namespace learn {

// Some numbers of each row on their way: of every row this lane has two, half a chunk apart.
template <int width> struct ChunkOfRows {
    static constexpr int half = chunk_inputs / 2;
    float number[warp_rows][2];

    // `own` is where the row of this lane lies, or null: then what it sees is the mean. Sixteen lanes from `lane` on
    // have those that are asked for.
    NACELLE_INLINE void read(const float* own, int lane, int chunk, const Memory& memory) {
        const int low = chunk * chunk_inputs + warp_lane(), high = low + half;
        const float* const there = own ? own : memory.mean;
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            const auto* const row = reinterpret_cast<const float*>(
                __shfl_sync(~0u, reinterpret_cast<uint64_t>(there), lane + r));
            number[r][0] = low < width ? row[low] : 0;
            number[r][1] = high < width ? row[high] : 0;
        }
    }
    // As the network sees them to rows of pairs, `pitch` words apart; told(number, half) hears of each, less the mean.
    template <class Told>
    NACELLE_INLINE void put(uint32_t* rows, int pitch, int chunk, const Memory& memory,
                            Told&& told) const {
        const int low = chunk * chunk_inputs + warp_lane(), high = low + half;
        const float mean[2] = {low < width ? memory.mean[low] : 0,
                               high < width ? memory.mean[high] : 0},
                    scale[2] = {low < width ? memory.scale[low] : 0,
                                high < width ? memory.scale[high] : 0};
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            NACELLE_UNROLL for (int i = 0; i < 2; ++i) told(number[r][i] - mean[i], i);
            rows[r * pitch + warp_lane()] = pair_of(normal_of(number[r][0], mean[0], scale[0]),
                                                    normal_of(number[r][1], mean[1], scale[1]));
        }
    }
};
// A warp's sums of what it saw, about the mean until now: of each number, and of its square. A lane adds up what it reads.
struct NoSums {
    NACELLE_INLINE void begin() {}
    NACELLE_INLINE void add(float, int) {}
    NACELLE_INLINE void end(int) {}
};
template <int columns> struct SeenSums {
    double* all;    // [2][columns]
    bool counts = false;
    double sum[2], squares[2];

    NACELLE_INLINE void begin() {
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) sum[i] = squares[i] = 0;
    }
    NACELLE_INLINE void add(float off, int half) {
        sum[half] += double(off);
        squares[half] += double(off) * double(off);
    }
    NACELLE_INLINE void end(int chunk) {
        if (!counts) return;
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            double* const to = all + chunk * chunk_inputs + i * chunk_inputs / 2 + warp_lane();
            to[0] += sum[i];
            to[columns] += squares[i];
        }
    }
};
// The first layer of a warp's 16 rows: what it makes of them lies in `fragments`. Chunks of pairs go to `rows`, each
// `apart` words behind the one before it; 0: into its place. `numbers` are the first chunk; where it goes
// on, they are then that of the next rows, which lie at `next`.
template <class L, int bands, class Weights, class Sums>
NACELLE_INLINE void forward_chunks(LayerFragments<L, bands>& fragments, uint32_t* rows, int pitch,
                                   int apart, ChunkOfRows<L::in>& numbers, const float* own,
                                   const float* next, bool goes_on, const Memory& memory,
                                   const Weights& weights, const float* bias, Sums& sums) {
    constexpr FusedLayer<int> its = layer_of<L, 0>;
    constexpr int in_chunk = chunk_inputs / 16, chunks = its.in_tiles / in_chunk;
    float sum[1][its.out_tiles][4];
    begin_tiles(sum, bias + its.bias + 2 * (warp_lane() % 4));
    NACELLE_ROLLED for (int chunk = 0; chunk < chunks; ++chunk) {
        uint32_t* const here = rows + chunk * apart;
        sums.begin();
        numbers.put(here, pitch, chunk, memory, [&](float off, int half) { sums.add(off, half); });
        const bool last = chunk + 1 == chunks;
        if (!last || goes_on) numbers.read(last ? next : own, 0, last ? 0 : chunk + 1, memory);
        sums.end(chunk);
        __syncwarp();
        uint32_t in[1][in_chunk][4];
        fetch_tiles<in_chunk>(in[0], here, pitch);
        tile_products<in_chunk>(sum, in, 0, weights, its.weights + chunk * in_chunk * its.out_tiles,
                                its.out_tiles);
        __syncwarp();
    }
    NACELLE_UNROLL for (int j = 0; j < its.out_tiles; ++j)
        fragments.template activate<1>(0, j, sum[0][j]);
}

// A warp's 16 rows outside of an update; each lane of the first half owns one, or none.
template <class L> struct WideStage {
    alignas(16) uint32_t in[warp_rows * chunk_pitch];
    float out[warp_rows * layout_of<L>.out_pitch];

    NACELLE_INLINE const float* outputs() const {
        return out + warp_lane() * layout_of<L>.out_pitch;
    }
    template <class Weights>
    NACELLE_INLINE void forward(const float* own, const Memory& memory, const Weights& weights,
                                const float* bias) {
        ChunkOfRows<L::in> numbers;
        NoSums none;
        numbers.read(own, 0, 0, memory);
        forward(numbers, own, nullptr, false, memory, weights, bias, none);
    }
    template <class Weights, class Sums>
    NACELLE_INLINE void forward(ChunkOfRows<L::in>& numbers, const float* own, const float* next,
                                bool goes_on, const Memory& memory, const Weights& weights,
                                const float* bias, Sums& sums) {
        LayerFragments<L> fragments;
        forward_chunks(fragments, in, chunk_pitch, 0, numbers, own, next, goes_on, memory, weights,
                       bias, sums);
        fragments.template forward<1>(weights, bias, [&](int, int j, const float(&c)[4]) {
            store_outputs(out, layout_of<L>.out_pitch, j, c);
        });
        __syncwarp();
    }
};
// A warp copies rows, a chunk of 16 at a time; each lane brings where its row lies, or null, and where it goes.
template <int width>
NACELLE_INLINE void copy_rows(const float* from, float* to, const Memory& memory) {
    const uint32_t owners = __ballot_sync(~0u, from != nullptr);
    NACELLE_ROLLED for (int lane = 0; lane < 32; lane += warp_rows) {
        if (!(owners >> lane & 0xffffu)) continue;
        ChunkOfRows<width> numbers;
        NACELLE_ROLLED for (int chunk = 0; chunk * chunk_inputs < width; ++chunk) {
            const int low = chunk * chunk_inputs + warp_lane(), high = low + chunk_inputs / 2;
            numbers.read(from, lane, chunk, memory);
            NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
                auto* const row = reinterpret_cast<float*>(
                    __shfl_sync(~0u, reinterpret_cast<uint64_t>(to), lane + r));
                const bool there = owners >> (lane + r) & 1;
                if (there && low < width) row[low] = numbers.number[r][0];
                if (there && high < width) row[high] = numbers.number[r][1];
            }
        }
    }
}

}
