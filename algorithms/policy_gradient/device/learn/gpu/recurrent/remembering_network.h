#pragma once
#include <learn/gpu/recurrent/gate_values.h>
#include <learn/gpu/tile/prepared.h>
#include <learn/layout/memory_layout.h>
// A network that remembers at work on 32 rows of a block; memory_layout.h says how. A warp has all gates of eight neurons
// of a layer at a time, and lane 4 g + t of it neurons 2 t and 2 t + 1 of rows g, g + 8, g + 16 and g + 24, as the tensor
// cores leave sums: nobody else touches what those remember while a layer is at work.
//
// The cores sum over 16 numbers in any order: the four lanes of a row take 8 neighbours each of 32 numbers, 16 bytes of a
// row of either factor, and give them to two products.

namespace learn {

template <class L> class RememberingNetwork {
    static constexpr int planes = L::planes;

public:
    static constexpr MemoryStage stage{L::width, L::cell, L::count, planes};
    static constexpr int threads = int(remembering_threads(L::width, L::count));

    NACELLE_INLINE RememberingNetwork(const float* prepared, uint32_t* rows)
        : weights_(reinterpret_cast<const uint16_t*>(prepared)),
          biases_(prepared + TiledOrder<L>::biases),
          rows_(rows),
          memory_(reinterpret_cast<float*>(rows + stage.memory)),
          out_(reinterpret_cast<float*>(rows + stage.out)) {}
    static NACELLE_INLINE void clear(uint32_t* rows, int block_threads) {
        for (int i = int(threadIdx.x); i < stage.words; i += block_threads) rows[i] = 0;
    }
    NACELLE_INLINE void put(int row, const float* obs, const Memory& memory) const {
        put_row<L::in, planes, 16 * tiles_of(L::in, 32)>(rows_ + row * stage.pitch, obs, memory);
    }
    NACELLE_INLINE const float* outputs(int row) const { return out_ + row * stage.out_pitch; }
    // All layers of all rows, by the whole block, once the rows are there; they remember what they made of it, or stay as
    // they are. The outputs are there for everybody afterwards.
    NACELLE_INLINE void forward(int warps, bool lasting) const { forward_from<0>(warps, lasting); }
    // fn(number, its place) for this lane's share of what a row remembers, in the order of PolicyState.
    template <class Fn> NACELLE_INLINE void each_remembered(int row, Fn&& fn) const {
        each_of_layer<0>(row, fn);
    }

private:
    template <int l>
    static constexpr int room_before = MemoryStage::room_before(L::width, L::cell, l);
    template <int l, class Fn> NACELLE_INLINE void each_of_layer(int row, Fn& fn) const {
        if constexpr (remembers(L::cell[l])) {
            for (int k = warp_lane(); k < L::width[l + 1]; k += 32)
                fn(L::memory_before(l) + k, memory_[row * stage.memory_pitch + room_before<l> + k]);
        }
        if constexpr (l + 1 < L::count) each_of_layer<l + 1>(row, fn);
    }

    template <int l> NACELLE_INLINE void forward_from(int warps, bool lasting) const {
        constexpr int neurons = L::width[l + 1];
        const uint32_t* const in = rows_ + l % 2 * remembering_rows * stage.pitch;
        const int warp = int(threadIdx.x) / 32;
        if constexpr (L::cell[l] == Cell::gru) {
            NACELLE_ROLLED for (int first = 8 * warp; first < neurons; first += 8 * warps)
                put_own<l>(first);
            __syncthreads();
        }
        NACELLE_ROLLED for (int first = 8 * warp; first < neurons; first += 8 * warps) {
            if constexpr (L::cell[l] == Cell::linear) linear<l>(in, first);
            else if constexpr (L::cell[l] == Cell::mingru) mingru<l>(in, first, lasting);
            else gru<l>(in, first, lasting);
        }
        __syncthreads();
        if constexpr (l + 1 < L::count) forward_from<l + 1>(warps, lasting);
    }
    struct alignas(16) Chunk {
        uint32_t at[4];
    };
    // sum += rows times 8 outputs of matrix m from `first` on, and as many `apart` from these for each further gate.
    template <int m, int gates>
    NACELLE_INLINE void add_products(float (&sum)[gates][2][4], const uint32_t* rows, int first,
                                     int apart) const {
        constexpr uint32_t across = tiles_along(uint64_t(L::matrix[m].in)),
                           outputs = tiles_along(uint64_t(L::matrix[m].out)) * tile_side,
                           plane = uint32_t(tiled_numbers(L::matrix[m]));
        constexpr int blocks = tiles_of(int(L::matrix[m].in), 32);
        const int g = warp_lane() / 4, t = warp_lane() % 4;
        const uint16_t* const weights =
            weights_ + uint32_t(tiled_weights_before(L::matrix, m, planes));
        const uint32_t* const own = rows + g * stage.pitch + 4 * t;
        float small[gates][2][4];
        begin(small);
        NACELLE_FOURFOLD for (int k = 0; k < blocks; ++k) {
            Chunk of[gates][planes], in[planes][4];
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                NACELLE_UNROLL for (int gate = 0; gate < gates; ++gate) {
                    const uint32_t row = min(uint32_t(first + gate * apart + g), outputs - 1);
                    of[gate][p] = *reinterpret_cast<const Chunk*>(
                        weights + uint32_t(p) * plane +
                        uint32_t(place_in_tiles(row, uint32_t(32 * k + 8 * t), across)));
                }
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) in[p][i] =
                    *reinterpret_cast<const Chunk*>(own + 8 * i * stage.pitch +
                                                    16 * (p * blocks + k));
            }
            NACELLE_UNROLL for (int step = 0; step < 4; step += 2) {
                NACELLE_UNROLL for (int band = 0; band < 2; ++band) {
                    uint32_t left[planes][4];
                    NACELLE_UNROLL for (int i = 0; i < 4 * planes; ++i) left[i / 4][i % 4] =
                        in[i / 4][2 * band + i % 2].at[step + i % 4 / 2];
                    NACELLE_UNROLL for (int gate = 0; gate < gates; ++gate) {
                        Fragment<planes> right;
                        NACELLE_UNROLL for (int i = 0; i < 2 * planes; ++i) right.at[i / 2][i % 2] =
                            of[gate][i / 2].at[step + i % 2];
                        multiply_planes<planes>(sum[gate][band], small[gate][band], left, 1, right);
                    }
                }
            }
        }
        NACELLE_UNROLL for (int i = 0; planes > 1 && i < 8 * gates; ++i)
            sum[i / 8][i / 4 % 2][i % 4] += small[i / 8][i / 4 % 2][i % 4];
    }
    template <int gates> static NACELLE_INLINE void begin(float (&sum)[gates][2][4]) {
        NACELLE_UNROLL for (int i = 0; i < 8 * gates; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
    }
    // Of this lane's eight numbers of eight neurons: the row, and the neuron behind the first one.
    static NACELLE_INLINE int row_of(int band, int i) {
        return 16 * band + warp_lane() / 4 + i / 2 * 8;
    }
    static NACELLE_INLINE int column_of(int i) { return 2 * (warp_lane() % 4) + i % 2; }
    template <int m> NACELLE_INLINE float bias(int output) const {
        return biases_[int(tiled_biases_before(L::matrix, m)) + output];
    }
    // Two neighbours of a row of `width` numbers, as pairs.
    template <int width>
    static NACELLE_INLINE void put_pair(uint32_t* rows, int row, int column,
                                        const Planes<planes>& pair) {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p)
            rows[row * stage.pitch + 16 * tiles_of(width, 32) * p + column / 2] = pair.at[p];
    }
    template <int l> NACELLE_INLINE uint32_t* behind() const {
        return rows_ + (l + 1) % 2 * remembering_rows * stage.pitch;
    }
    template <int l> NACELLE_INLINE float& remembered(int row, int neuron) const {
        return memory_[row * stage.memory_pitch + room_before<l> + neuron];
    }

    template <int l> NACELLE_INLINE void linear(const uint32_t* in, int first) const {
        constexpr int m = L::first_matrix(l), width = L::width[l + 1];
        float sum[1][2][4];
        begin(sum);
        add_products<m>(sum, in, first, 0);
        NACELLE_UNROLL for (int band = 0; band < 2; ++band) {
            NACELLE_UNROLL for (int i = 0; i < 4; i += 2) {
                const int row = row_of(band, i), column = first + column_of(i);
                const float x = sum[0][band][i] + bias<m>(column),
                            y = sum[0][band][i + 1] + bias<m>(column + 1);
                if constexpr (l + 1 == L::count) {
                    out_[row * stage.out_pitch + column] = x;
                    out_[row * stage.out_pitch + column + 1] = y;
                } else
                    put_pair<width>(behind<l>(), row, column,
                                    activated_pair<L::activation, planes>(x, y));
            }
        }
    }
    // next(band, i, neuron, h) says what a neuron of layer l makes of what it had.
    template <int l, class Fn> NACELLE_INLINE void renew(int first, bool lasting, Fn&& next) const {
        constexpr int width = L::width[l + 1];
        NACELLE_UNROLL for (int band = 0; band < 2; ++band) {
            NACELLE_UNROLL for (int i = 0; i < 4; i += 2) {
                float now[2];
                NACELLE_UNROLL for (int k = 0; k < 2; ++k) {
                    const int neuron = first + column_of(i + k);
                    float& h = remembered<l>(row_of(band, i), neuron);
                    now[k] = neuron < width ? next(band, i + k, neuron, h) : 0;
                    if (lasting) h = now[k];
                }
                put_pair<width>(behind<l>(), row_of(band, i), first + column_of(i),
                                planes_of<planes>(now[0], now[1]));
            }
        }
    }
    template <int l> NACELLE_INLINE void mingru(const uint32_t* in, int first, bool lasting) const {
        constexpr int m = L::first_matrix(l), neurons = L::width[l + 1];
        using C = Curve<L::activation>;
        float sum[2][2][4];
        begin(sum);
        add_products<m>(sum, in, first, neurons);
        renew<l>(first, lasting, [&](int band, int i, int neuron, float h) {
            const float straight_z = sum[0][band][i] + bias<m>(neuron),
                        straight_c = sum[1][band][i] + bias<m>(neurons + neuron);
            if constexpr (planes > 1) return h + logistic(straight_z) * (C::at(straight_c) - h);
            else {    // rounded as an update has them
                const uint32_t both = pair_of(gate_value<L::activation>(straight_z, 0, 1),
                                              gate_value<L::activation>(straight_c, 1, 1));
                const float c = high_half(both);
                return h + low_half(both) * ((C::needs_input ? C::at(c) : c) - h);
            }
        });
    }
    // What a gru remembers as a factor: this lane's numbers of eight neurons.
    template <int l> NACELLE_INLINE void put_own(int first) const {
        NACELLE_UNROLL for (int band = 0; band < 2; ++band) {
            NACELLE_UNROLL for (int i = 0; i < 4; i += 2) {
                const int row = row_of(band, i), neuron = first + column_of(i);
                put_pair<L::width[l + 1]>(
                    rows_ + stage.own, row, neuron,
                    planes_of<planes>(remembered<l>(row, neuron), remembered<l>(row, neuron + 1)));
            }
        }
    }
    template <int l> NACELLE_INLINE void gru(const uint32_t* in, int first, bool lasting) const {
        constexpr int m = L::first_matrix(l), neurons = L::width[l + 1];
        float seen[3][2][4], own[3][2][4];
        begin(seen);
        begin(own);
        add_products<m>(seen, in, first, neurons);
        add_products<m + 1>(own, rows_ + stage.own, first, neurons);
        renew<l>(first, lasting, [&](int band, int i, int neuron, float h) {
            float gate[3], more[3];
            NACELLE_UNROLL for (int k = 0; k < 3; ++k) {
                gate[k] = seen[k][band][i] + bias<m>(k * neurons + neuron);
                more[k] = own[k][band][i] + bias<m + 1>(k * neurons + neuron);
            }
            const float r = logistic(gate[0] + more[0]), z = logistic(gate[1] + more[1]),
                        c = quick_tanh(gate[2] + r * more[2]);
            return c + z * (h - c);
        });
    }

    const uint16_t* weights_;
    const float* biases_;
    uint32_t* rows_;
    float *memory_, *out_;
};

}
