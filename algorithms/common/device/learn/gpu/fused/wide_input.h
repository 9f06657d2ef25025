#pragma once
#include <learn/gpu/fused/layers.h>
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
        const int low = low_of(chunk), high = low + half;
        const float* const there = own ? own : memory.mean;
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            const auto* const row = reinterpret_cast<const float*>(
                __shfl_sync(~0u, reinterpret_cast<uint64_t>(there), lane + r));
            number[r][0] = low < width ? row[low] : 0;
            number[r][1] = high < width ? row[high] : 0;
        }
    }
    // As the network sees them to rows of pairs, `pitch` words apart; told(number, half) hears of each, less the mean, or
    // of what a pair keeps of it.
    template <class Told>
    NACELLE_INLINE void put(uint32_t* rows, int pitch, int chunk, const Memory& memory,
                            Told&& told) const {
        const int low = low_of(chunk), high = low + half;
        const float mean[2] = {low < width ? memory.mean[low] : 0,
                               high < width ? memory.mean[high] : 0},
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
// The same of rows that are kept as pairs.
template <int width> struct ChunkOfPairs {
    uint32_t pair[warp_rows];

    NACELLE_INLINE void read(const PairRow<width>& own, int lane, int chunk, const Memory&) {
        const int p = chunk * (chunk_inputs / 2) + warp_lane();
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            const auto* const row = reinterpret_cast<const uint32_t*>(
                __shfl_sync(~0u, reinterpret_cast<uint64_t>(own.at), lane + r));
            pair[r] = row && p < PairRow<width>::pairs ? row[p] : 0;
        }
    }
    template <class Told>
    NACELLE_INLINE void put(uint32_t* rows, int pitch, int, const Memory&, Told&& told) const {
        NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
            told(low_half(pair[r]), 0);
            told(high_half(pair[r]), 1);
            rows[r * pitch + warp_lane()] = cut_pair(pair[r]);
        }
    }
};
// Of rows of which a warp's are all of one kind.
template <int width> struct ChunkOfStanding {
    ChunkOfFloats<width> floats;
    ChunkOfPairs<width> kept;
    bool are_kept;

    NACELLE_INLINE void read(const StandingRow<width>& own, int lane, int chunk,
                             const Memory& memory) {
        are_kept = __ballot_sync(~0u, bool(own.kept));
        if (are_kept) kept.read(own.kept, lane, chunk, memory);
        else floats.read(own.floats, lane, chunk, memory);
    }
    template <class Told>
    NACELLE_INLINE void put(uint32_t* rows, int pitch, int chunk, const Memory& memory,
                            Told&& told) const {
        if (are_kept) kept.put(rows, pitch, chunk, memory, told);
        else floats.put(rows, pitch, chunk, memory, told);
    }
};
template <class Row, int width> struct ChunkFor { using type = ChunkOfFloats<width>; };
template <int width> struct ChunkFor<PairRow<width>, width> { using type = ChunkOfPairs<width>; };
template <int width> struct ChunkFor<StandingRow<width>, width> {
    using type = ChunkOfStanding<width>;
};
template <class Row, int width> using ChunkOfRows = typename ChunkFor<Row, width>::type;

// A warp's sums of what it saw, about the mean until now: of each number, and of its square. A lane adds up what it reads.
struct NoSums {
    NACELLE_INLINE void begin() {}
    NACELLE_INLINE void add(float, int) {}
    NACELLE_INLINE void end(int) {}
};
// A pair keeps eight bits of a number: floats have room for the sums of so few of them.
template <int columns> struct SeenSums {
    using Sum = Either<keeps_pairs, float, double>;
    double* all;    // [2][columns], in the order of place_of()
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
            double* const to = all + chunk * chunk_inputs + i * chunk_inputs / 2 + warp_lane();
            to[0] += double(sum[i]);
            to[columns] += double(squares[i]);
        }
    }
};
// The first layer of a warp's 16 rows: what it makes of them lies in `fragments`. Chunks of pairs go to `rows`, each
// `apart` words behind the one before it; 0: into its place. `numbers` are the first chunk; where it goes
// on, they are then that of the next rows, which lie at `next`.
template <class L, int bands, class Row, class Weights, class Sums>
NACELLE_INLINE void forward_chunks(LayerFragments<L, bands>& fragments, uint32_t* rows, int pitch,
                                   int apart, ChunkOfRows<Row, L::in>& numbers, const Row& own,
                                   const Row& next, bool goes_on, const Memory& memory,
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
    template <class Row, class Weights>
    NACELLE_INLINE void forward(const Row& own, const Memory& memory, const Weights& weights,
                                const float* bias) {
        ChunkOfRows<Row, L::in> numbers;
        NoSums none;
        numbers.read(own, 0, 0, memory);
        forward<Row>(numbers, own, {}, false, memory, weights, bias, none);
    }
    template <class Row, class Weights, class Sums>
    NACELLE_INLINE void forward(ChunkOfRows<Row, L::in>& numbers, const Row& own, const Row& next,
                                bool goes_on, const Memory& memory, const Weights& weights,
                                const float* bias, Sums& sums) {
        LayerFragments<L> fragments;
        forward_chunks<L, 1, Row>(fragments, in, chunk_pitch, 0, numbers, own, next, goes_on,
                                  memory, weights, bias, sums);
        fragments.template forward<1>(weights, bias, [&](int, int j, const float(&c)[4]) {
            store_outputs(out, layout_of<L>.out_pitch, j, c);
        });
        __syncwarp();
    }
};
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
                    if (low < width)
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
