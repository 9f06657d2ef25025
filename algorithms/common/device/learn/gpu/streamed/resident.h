#pragma once
#include <learn/gpu/prepared.h>
#include <learn/gpu/streamed/products.h>
#include <learn/memory_layout.h>
// A network that remembers at work on 16 rows of a warp, its weights in shared memory as they are prepared, what the
// rows remember beside them. Lane 4 g + t has of each tile rows g and g + 8, columns 2 t and the next, as the tensor cores
// leave sums: what it remembers of them nobody else touches while a layer is at work.

namespace learn {

template <class L> class ResidentNetwork {
    static constexpr int planes = L::planes;

public:
    static constexpr MemoryStage stage{L::width, L::cell, L::count, planes};

    NACELLE_INLINE ResidentNetwork(uint32_t* weights, uint32_t* rows)
        : weights_(reinterpret_cast<const uint16_t*>(weights)),
          biases_(reinterpret_cast<const float*>(weights) + TiledOrder<L>::biases),
          in_(rows),
          memory_(reinterpret_cast<float*>(rows + stage.memory)),
          out_(reinterpret_cast<float*>(rows + stage.out)) {
        for (int i = warp_lane(); i < stage.words; i += 32) rows[i] = 0;
        __syncwarp();
    }
    // This lane's row.
    NACELLE_INLINE void put(const float* obs, const Memory& memory) {
        put_row<L::in, planes>(in_ + warp_lane() * stage.in_pitch, obs, memory);
    }
    NACELLE_INLINE const float* outputs() const { return out_ + warp_lane() * stage.out_pitch; }
    // All layers; rows remember what they made of it, or stay as they are.
    NACELLE_INLINE void forward(bool lasting) {
        __syncwarp();
        forward_from<0>(lasting);
    }
    // fn(number, its place) for this lane's share of what a row remembers, in the order of PolicyState.
    template <class Fn> NACELLE_INLINE void each_remembered(int row, Fn&& fn) {
        each_of_layer<0>(row, fn);
    }

private:
    template <int l>
    static constexpr int room_before = MemoryStage::memory_room_before(L::width, L::cell, l);
    template <int l, class Fn> NACELLE_INLINE void each_of_layer(int row, Fn& fn) {
        if constexpr (remembers(L::cell[l])) {
            for (int k = warp_lane(); k < L::width[l + 1]; k += 32)
                fn(L::memory_before(l) + k, memory_[row * stage.memory_pitch + room_before<l> + k]);
        }
        if constexpr (l + 1 < L::count) each_of_layer<l + 1>(row, fn);
    }

    template <int l> NACELLE_INLINE void forward_from(bool lasting) {
        constexpr int tiles = tiles_of(L::width[l], 16);
        uint32_t in[planes * tiles][4];
        fetch_tiles<planes * tiles>(in, in_, stage.in_pitch);
        __syncwarp();
        if constexpr (L::cell[l] == Cell::linear) linear<l>(in);
        else if constexpr (L::cell[l] == Cell::mingru) mingru<l>(in, lasting);
        else gru<l>(in, lasting);
        __syncwarp();
        if constexpr (l + 1 < L::count) forward_from<l + 1>(lasting);
    }
    // sum += the rows times 16 outputs of matrix m, from one on; those behind its last tile are never asked for.
    template <int m, int all>
    NACELLE_INLINE void add_product(float (&sum)[2][4], const uint32_t (&in)[all][4],
                                    int first) const {
        constexpr uint32_t across = tiles_along(uint64_t(L::matrix[m].in)),
                           rows = tiles_along(uint64_t(L::matrix[m].out)) * tile_side;
        constexpr int tiles = all / planes;
        const int lane = warp_lane();
        const uint32_t row = min(uint32_t(first + lane % 8 + lane / 16 * 8), rows - 1);
        const uint16_t* const from =
            weights_ + uint32_t(tiled_weights_before(L::matrix, m, planes));
        float small[2][4];
        NACELLE_UNROLL for (int i = 0; i < 8; ++i) small[i / 4][i % 4] = 0;
        NACELLE_UNROLL for (int k = 0; k < tiles; ++k) {
            Fragment<planes> left, right;
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                uint32_t four[4];
                load_tiles<false>(four, from + uint32_t(p) * uint32_t(tiled_numbers(L::matrix[m])) +
                                            uint32_t(place_in_tiles(
                                                row, uint32_t(16 * k + lane / 8 % 2 * 8), across)));
                left.at[p][0] = four[0];
                left.at[p][1] = four[1];
                right.at[p][0] = four[2];
                right.at[p][1] = four[3];
            }
            multiply_planes<planes>(sum[0], small[0], in + k, tiles, left);
            multiply_planes<planes>(sum[1], small[1], in + k, tiles, right);
        }
        NACELLE_UNROLL for (int i = 0; planes > 1 && i < 8; ++i) sum[i / 4][i % 4] +=
            small[i / 4][i % 4];
    }
    template <int sums> static NACELLE_INLINE void begin(float (&sum)[sums][2][4]) {
        NACELLE_UNROLL for (int i = 0; i < 8 * sums; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
    }
    // Of the four numbers of a tile: the row, and the column behind the tile's first one.
    static NACELLE_INLINE int row_of(int i) { return warp_lane() / 4 + i / 2 * 8; }
    static NACELLE_INLINE int column_of(int i) { return 2 * (warp_lane() % 4) + i % 2; }
    template <int m> NACELLE_INLINE float bias(int output) const {
        return biases_[int(tiled_biases_before(L::matrix, m)) + output];
    }
    // A tile of 8 columns of what layer l makes.
    template <int l>
    NACELLE_INLINE void leave(int tile, const Planes<planes>& upper, const Planes<planes>& lower) {
        constexpr int apart = 8 * tiles_of(L::width[l + 1], 16);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p)
            store_pair(in_ + apart * p, stage.in_pitch, tile, upper.at[p], lower.at[p]);
    }
    template <int l, int all> NACELLE_INLINE void linear(const uint32_t (&in)[all][4]) {
        constexpr int m = L::first_matrix(l), tiles = tiles_of(L::width[l + 1], 16),
                      together = tiles % 2 ? 1 : 2;
        NACELLE_ROLLED for (int first = 0; first < tiles; first += together) {
            float sum[together][2][4];
            begin(sum);
            NACELLE_UNROLL for (int j = 0; j < together; ++j)
                add_product<m>(sum[j], in, 16 * (first + j));
            NACELLE_UNROLL for (int j = 0; j < 2 * together; ++j) {
                const int tile = 2 * first + j;
                float(&c)[4] = sum[j / 2][j % 2];
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) c[i] += bias<m>(8 * tile + column_of(i));
                if constexpr (l + 1 == L::count) store_outputs(out_, stage.out_pitch, tile, c);
                else
                    leave<l>(tile, activated_pair<L::activation, planes>(c[0], c[1]),
                             activated_pair<L::activation, planes>(c[2], c[3]));
            }
        }
    }
    // h of layer l, of this lane's numbers of a tile from one column on; keep(i, what it had) says what it has now.
    template <int l, class Fn> NACELLE_INLINE void renew(int column, bool lasting, Fn&& next) {
        float now[4];
        NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
            const int at = column + column_of(i);
            float& h = memory_[row_of(i) * stage.memory_pitch + room_before<l> + at];
            now[i] = at < L::width[l + 1] ? next(i, at, h) : 0;
            if (lasting) h = now[i];
        }
        leave<l>(column / 8, planes_of<planes>(now[0], now[1]), planes_of<planes>(now[2], now[3]));
    }
    template <int l, int all>
    NACELLE_INLINE void mingru(const uint32_t (&in)[all][4], bool lasting) {
        constexpr int m = L::first_matrix(l), neurons = L::width[l + 1];
        using C = Curve<L::activation>;
        NACELLE_ROLLED for (int first = 0; first < neurons; first += 16) {
            float sum[2][2][4];
            begin(sum);
            add_product<m>(sum[0], in, first);
            add_product<m>(sum[1], in, neurons + first);
            NACELLE_UNROLL for (int j = 0; j < 2; ++j)
                renew<l>(first + 8 * j, lasting, [&](int i, int at, float h) {
                    const float straight_z = sum[0][j][i] + bias<m>(at),
                                straight_c = sum[1][j][i] + bias<m>(neurons + at);
                    if constexpr (planes > 1)
                        return h + logistic(straight_z) * (C::at(straight_c) - h);
                    else {    // rounded as an update has them
                        const uint32_t both = pair_of(gate_value<L::activation>(straight_z, 0, 1),
                                                      gate_value<L::activation>(straight_c, 1, 1));
                        const float c = high_half(both);
                        return h + low_half(both) * ((C::needs_input ? C::at(c) : c) - h);
                    }
                });
        }
    }
    template <int l, int all> NACELLE_INLINE void gru(const uint32_t (&in)[all][4], bool lasting) {
        constexpr int m = L::first_matrix(l), neurons = L::width[l + 1],
                      tiles = tiles_of(neurons, 16);
        uint32_t before[planes * tiles][4];
        NACELLE_UNROLL for (int k = 0; k < tiles; ++k) {
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                const float* const two = memory_ + row_of(i % 2 * 2) * stage.memory_pitch +
                                         room_before<l> + 16 * k + i / 2 * 8 + column_of(0);
                const auto pair = planes_of<planes>(two[0], two[1]);
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) before[p * tiles + k][i] =
                    pair.at[p];
            }
        }
        NACELLE_ROLLED for (int first = 0; first < neurons; first += 16) {
            float seen[3][2][4], own[3][2][4];
            begin(seen);
            begin(own);
            NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate) {
                add_product<m>(seen[gate], in, gate * neurons + first);
                add_product<m + 1>(own[gate], before, gate * neurons + first);
            }
            NACELLE_UNROLL for (int j = 0; j < 2; ++j)
                renew<l>(first + 8 * j, lasting, [&](int i, int at, float h) {
                    float gate[3], more[3];
                    NACELLE_UNROLL for (int k = 0; k < 3; ++k) {
                        gate[k] = seen[k][j][i] + bias<m>(k * neurons + at);
                        more[k] = own[k][j][i] + bias<m + 1>(k * neurons + at);
                    }
                    const float r = logistic(gate[0] + more[0]), z = logistic(gate[1] + more[1]),
                                c = quick_tanh(gate[2] + r * more[2]);
                    return c + z * (h - c);
                });
        }
    }

    const uint16_t* weights_;
    const float* biases_;
    uint32_t* in_;
    float *memory_, *out_;
};

}
