#pragma once
#include <learn/gpu/dense/layers.h>
// A first layer that sees many numbers. A warp reads 64 numbers of 16 rows at a time from where they are kept, each
// row's side by side, and adds up their products; what the other layers see stays in registers.

namespace learn {

// Some numbers of each row on their way: of every row this lane has two, half a chunk apart, or neighbours where pairs of
// these are kept. Sixteen lanes from `lane` on say where a row lies, or null: then what it sees is the mean.
template <int width> struct ChunkOfFloats {
    static constexpr int half = keeps_pairs ? 1 : chunk_inputs / 2, step = keeps_pairs ? 2 : 1;
    float number[warp_rows][2];

    static NACELLE_INLINE int low_of(int chunk) {
        return chunk * chunk_inputs + step * warp_lane();
    }
    NACELLE_INLINE void read(const float* own, int lane, int chunk, const Memory& memory) {
        // Behind the last number that one again: a read with a condition would be waited for at once.
        const int low = min(low_of(chunk), width - 1), high = min(low_of(chunk) + half, width - 1);
        const float* const there = own ? own : memory.mean;
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            const auto* const row = reinterpret_cast<const float*>(
                __shfl_sync(~0u, reinterpret_cast<uint64_t>(there), lane + r));
            number[r][0] = row[low];
            number[r][1] = row[high];
        }
    }
    // As the network sees them to rows of pairs, `pitch` words apart; told(number, half) hears of each, less the mean, or
    // of what a pair keeps of it.
    template <class Told>
    NACELLE_INLINE void put(uint32_t* rows, int pitch, int chunk, const Memory& memory,
                            Told&& told) const {
        const int low = low_of(chunk), high = low + half;
        const float mean[2] = {memory.mean[min(low, width - 1)], memory.mean[min(high, width - 1)]},
                    scale[2] = {low < width ? memory.scale[low] : 0,
                                high < width ? memory.scale[high] : 0};
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            NACELLE_UNROLL for (int i = 0; i < 2; ++i)
                told(keeps_pairs ? (number[r][i] - mean[i]) * scale[i] : number[r][i] - mean[i], i);
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
    // A pair keeps eight bits of a number: floats have room for the sums of the rows that a warp sees in a step.
    using Sum = Either<keeps_pairs, float, double>;
    Sum* all;    // [2][columns], in the order of place_of()
    bool counts = false;
    Sum sum[2], squares[2];

    static NACELLE_INLINE int place_of(int number) {
        return keeps_pairs ? column_in_chunks(number) : number;
    }
    NACELLE_INLINE void begin() {
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) sum[i] = squares[i] = 0;
    }
    NACELLE_INLINE void add(float off, int half) {
        sum[half] += Sum(off);
        squares[half] += Sum(off) * Sum(off);
    }
    NACELLE_INLINE void end(int chunk) {
        if (!counts) return;
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            Sum* const to = all + chunk * chunk_inputs + i * chunk_inputs / 2 + warp_lane();
            to[0] += sum[i];
            to[columns] += squares[i];
        }
    }
};
// Chunk `chunk` of a warp's 16 rows, whose pairs lie at `rows`, times its weights on top of the sums. Where they are not
// yet cut, they are on their way.
template <class L, bool cuts, int out_tiles, class Weights>
NACELLE_INLINE void multiply_chunk(float (&sum)[1][out_tiles][4], const uint32_t* rows, int pitch,
                                   int chunk, const Weights& weights) {
    constexpr FusedLayer<int> its = layer_of<L, 0>;
    constexpr int tiles = chunk_inputs / 16;
    uint32_t in[1][tiles][4];
    fetch_tiles<tiles>(in[0], rows, pitch);
    NACELLE_UNROLL for (int i = 0; cuts && i < 4 * tiles; ++i) in[0][i / 4][i % 4] =
        cut_pair(in[0][i / 4][i % 4]);
    tile_products<tiles>(sum, in, 0, weights, its.weights + chunk * tiles * its.out_tiles,
                         its.out_tiles);
}
template <class L> inline constexpr int chunks_in = layer_of<L, 0>.in_tiles / (chunk_inputs / 16);
// The first layer of a warp's 16 rows: what it makes of them lies in `fragments`. Chunks of pairs go to `rows`, each
// `apart` words behind the one before it; 0: into its place. `numbers` are the first chunk; where it goes
// on, they are then that of the next rows, which lie at `next`.
template <class L, int bands, class Weights, class Sums>
NACELLE_INLINE void forward_chunks(LayerFragments<L, bands>& fragments, uint32_t* rows, int pitch,
                                   int apart, ChunkOfFloats<L::in>& numbers, const float* own,
                                   const float* next, bool goes_on, const Memory& memory,
                                   const Weights& weights, const float* bias, Sums& sums) {
    constexpr FusedLayer<int> its = layer_of<L, 0>;
    constexpr int chunks = chunks_in<L>;
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
        multiply_chunk<L, false>(sum, here, pitch, chunk, weights);
        __syncwarp();
    }
    NACELLE_UNROLL for (int j = 0; j < its.out_tiles; ++j)
        fragments.template activate<1>(0, j, sum[0][j]);
}
// A warp copies rows of floats to where they are kept, a chunk of 16 at a time; each lane brings where its row lies, or
// null, and the number of the kept one.
template <int width>
NACELLE_INLINE void keep_rows(const Memory& memory, const float* from, size_t at, bool final) {
    const uint32_t owners = __ballot_sync(~0u, from != nullptr);
    NACELLE_ROLLED for (int lane = 0; lane < 32; lane += warp_rows) {
        if (!(owners >> lane & 0xffffu)) continue;
        ChunkOfFloats<width> numbers;
        NACELLE_ROLLED for (int chunk = 0; chunk * chunk_inputs < width; ++chunk) {
            const int low = numbers.low_of(chunk), high = low + numbers.half;
            numbers.read(from, lane, chunk, memory);
            NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
                const size_t row =
                    size_t(__shfl_sync(~0u, uint64_t(at), lane + r)) * size_t(kept_parts<width>);
                if (!(owners >> (lane + r) & 1)) continue;
                if constexpr (keeps_pairs) {
                    if (low / 2 < kept_parts<width>)
                        (final ? memory.final_pairs : memory.pairs)[row + size_t(low / 2)] =
                            PairForm(memory.mean, memory.scale, low / 2,
                                     width)(numbers.number[r][0], numbers.number[r][1]);
                } else {
                    float* const to = (final ? memory.final_obs : memory.obs) + row;
                    if (low < width) to[low] = numbers.number[r][0];
                    if (high < width) to[high] = numbers.number[r][1];
                }
            }
        }
    }
}

}
