#pragma once
#include <learn/gpu/dense/layers.h>
#include <learn/gpu/recurrent/cells.h>
// What the two ways of a gru through all steps of its sequences share. A block has 16 sequences, a warp 8 neurons of all
// of them, and lane 4 g + t of it two of those neurons, from 2 t on, of sequences g and g + 8: as the tensor cores leave
// sums. The matrix of what is remembered stays in registers. Between two steps warps tell each other their neurons
// through shared memory, and there is one barrier. What a step needs of memory is on its way three steps before.

namespace learn {

// The sequences of a block: where each began, and where they forgot, a chunk of steps at a time.
template <class E, int policy, int room> class BlockPast {
public:
    static constexpr uint32_t chunk = gru_chunk, threads = gru_threads(room);

    NACELLE_INLINE BlockPast(const View<E>& view, const CellArguments& a, uint32_t block,
                             unsigned char* shared)
        : forgot_(a.all.policy[policy].forgot),
          rows_(group_rows<E, policy>(view)),
          steps_(a.all.sequence),
          began_(reinterpret_cast<Began*>(shared)),
          flags_(shared + gru_sequences * sizeof(Began)) {
        if (threadIdx.x < gru_sequences) {
            const Past<E, policy, true> past(view, a, block * gru_sequences + threadIdx.x);
            began_[threadIdx.x] = {past.at, past.there ? past.first : nullptr};
        }
        __syncthreads();
    }
    // What a sequence remembered before its first step; null where there is none.
    NACELLE_INLINE const float* first(uint32_t sequence) const { return began_[sequence].first; }
    // All threads: the flags of the chunk with step t.
    NACELLE_INLINE void look(uint32_t t) const {
        const uint32_t start = t / chunk * chunk;
        NACELLE_UNROLL for (uint32_t k = 0; k < chunk * gru_sequences / threads; ++k) {
            const uint32_t i = k * threads + threadIdx.x, step = start + i / gru_sequences;
            const Began& its = began_[i % gru_sequences];
            flags_[i] = step < steps_ && its.first && forgot_[its.at + step * rows_] != 0;
        }
        __syncthreads();
    }
    NACELLE_INLINE bool forgot(uint32_t sequence, uint32_t t) const {
        return flags_[t % chunk * gru_sequences + sequence] != 0;
    }

private:
    struct Began {
        size_t at;    // of its first step, among a rollout's [steps][rows]
        const float* first;
    };
    static_assert(sizeof(Began) == 16);
    const uint8_t* forgot_;
    size_t rows_;
    uint32_t steps_;
    Began* began_;
    uint8_t* flags_;
};

// A lane's place: its two neurons of two sequences, and where those lie in a matrix of all steps.
struct GruLane {
    uint32_t lane, warp, g, t, neuron, neurons, row, across;
    bool active;    // whether its warp has any neurons

    NACELLE_INLINE GruLane(const CellArguments& a, uint32_t block)
        : lane(threadIdx.x % 32),
          warp(threadIdx.x / 32),
          g(lane / 4),
          t(lane % 4),
          neuron(8 * warp + 2 * t),
          neurons(a.cell.neurons),
          row(block * gru_sequences + g),
          across(a.stream.across),
          active(8 * warp < neurons) {}
    NACELLE_INLINE bool has(uint32_t k) const { return neuron + k < neurons; }
    // Rows of one step are whole tiles, so that a place moves by as many numbers from each step to the next.
    NACELLE_INLINE size_t place(const TiledMatrix& matrix, uint32_t step, uint32_t column) const {
        return size_t(step) * (across / tile_side) * matrix.across * tile_numbers +
               place_in_tiles(row, column, matrix.across);
    }
    static constexpr uint32_t eight_rows = 8 * tile_side;    // from sequence g to g + 8
};

// Its two numbers of each sequence, four in all.
template <int planes>
NACELLE_INLINE void put_four(uint16_t* to, size_t plane, const float (&four)[4]) {
    NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
        const auto pair = planes_of<planes>(four[2 * half], four[2 * half + 1]);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
            reinterpret_cast<uint32_t*>(to + size_t(p) * plane + half * GruLane::eight_rows) =
            pair.at[p];
    }
}
// The same where neighbours may belong to different words, or the second one to nobody.
template <int planes>
NACELLE_INLINE void put_apart(const TiledMatrix& to, const GruLane& its, uint32_t step,
                              uint32_t column, const float (&four)[4]) {
    NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
        if (!its.has(k)) continue;
        uint16_t* const place = to.at + its.place(to, step, column + k);
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
            const auto pair = planes_of<planes>(four[2 * half + k], 0.0f);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                place[size_t(p) * to.plane + half * GruLane::eight_rows] = uint16_t(pair.at[p]);
        }
    }
}

// Factors of a product in shared memory, [planes][16][pitch] numbers: rows lie on different banks.
template <int planes, int columns> struct GruFactor {
    static constexpr uint32_t pitch = columns + 8, plane = gru_sequences * pitch,
                              bytes = planes * plane * 2;
    uint16_t* at;

    NACELLE_INLINE void put(const GruLane& its, uint32_t column, const float (&four)[4]) const {
        uint16_t* const to = at + its.g * pitch + column;
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
            const auto pair = planes_of<planes>(four[2 * half], four[2 * half + 1]);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
                reinterpret_cast<uint32_t*>(to + uint32_t(p) * plane + half * 8 * pitch) =
                pair.at[p];
        }
    }
    NACELLE_INLINE void get(const GruLane& its, uint32_t column, float (&four)[4]) const {
        const uint16_t* const from = at + its.g * pitch + column;
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
            Planes<planes> pair;
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) pair.at[p] =
                *reinterpret_cast<const uint32_t*>(from + uint32_t(p) * plane + half * 8 * pitch);
            four[2 * half] = pair.low();
            four[2 * half + 1] = pair.high();
        }
    }
    NACELLE_INLINE void fetch(const GruLane& its, uint32_t column,
                              uint32_t (&in)[planes][4]) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) load_tiles<false>(
            in[p], at + uint32_t(p) * plane + its.lane % 16 * pitch + column + its.lane / 16 * 8);
    }
    // A step's rows of a matrix in tiles, on their way.
    NACELLE_INLINE void bring(const TiledMatrix& from, size_t first_row) const {
        constexpr uint32_t chunks = columns / chunk_numbers;
        NACELLE_ROLLED for (uint32_t i = threadIdx.x; i < planes * gru_sequences * chunks;
                            i += gru_threads(columns)) {
            const uint32_t p = i / (gru_sequences * chunks), row = i / chunks % gru_sequences,
                           column = i % chunks * chunk_numbers;
            bring_async(at + p * plane + row * pitch + column,
                        from.at + p * from.plane +
                            place_in_tiles(first_row + row, column, from.across),
                        true);
        }
    }
};

// What a lane keeps of a step for the way back: r, z, n and Un h + cn of its four numbers, in 32 bytes of bfloat16 or in
// 64 of floats. Those of a warp lie 16 bytes by 16 bytes beside each other.
template <int planes> struct GruKept {
    struct alignas(16) Words {
        uint32_t at[4];
    };
    static constexpr uint32_t vectors = gru_kept_vectors(planes);
    float of[4][4];

    // Where the first ones lie, those of all active warps of all blocks step by step.
    static NACELLE_INLINE size_t place(const GruLane& its, uint32_t block, uint32_t step) {
        return ((size_t(step) * (its.across / gru_sequences) + block) * chunks_along(its.neurons) +
                its.warp) *
                   (vectors * 32) +
               its.lane;
    }
    NACELLE_INLINE void put(Words* to) const {
        NACELLE_UNROLL for (uint32_t v = 0; v < vectors; ++v) {
            Words words;
            NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                if constexpr (planes == 1) {
                    const float(&four)[4] = of[2 * v + k / 2];
                    words.at[k] = pair_of(four[k % 2 * 2], four[k % 2 * 2 + 1]);
                } else words.at[k] = __builtin_bit_cast(uint32_t, of[v][k]);
            }
            to[32 * v] = words;
        }
    }
    NACELLE_INLINE void get(const Words* from) {
        NACELLE_UNROLL for (uint32_t v = 0; v < vectors; ++v) {
            const Words words = from[32 * v];
            NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                if constexpr (planes == 1) {
                    of[2 * v + k / 2][k % 2 * 2] = low_half(words.at[k]);
                    of[2 * v + k / 2][k % 2 * 2 + 1] = high_half(words.at[k]);
                } else of[v][k] = __builtin_bit_cast(float, words.at[k]);
            }
        }
    }
};

// sum[0] += in times a tile of weights; with one plane two sums take turns, so that a product waits for fewer, with
// several the second one has the small products, as multiply_planes says.
template <int planes>
NACELLE_INLINE void multiply_in_turns(float (&sum)[2][4], const uint32_t (&in)[planes][4],
                                      const Fragment<planes>& weights, int k) {
    if constexpr (planes == 1) multiply(sum[k % 2], in[0], weights.at[0][0], weights.at[0][1]);
    else multiply_planes(sum[0], sum[1], in, 1, weights);
}

}
