#pragma once
#include <learn/gpu/dense/slopes.h>
// A network's last layer over a minibatch, at once: its outputs, the slopes of the loss along them, those along what goes
// into the layer before it, and the gradient of its weights. What goes in is read once, and so are sums, which three
// products of their own would read each. For few outputs behind a wide layer.

namespace learn {

struct NoLoss {
    NACELLE_INLINE explicit NoLoss(const Arguments&) {}
};
template <class E, int policy, class L, Part part, bool learns> class LastLayerBlock {
    using C = Curve<Spec<policy>::activation>;
    // Columns to the end of the last tile, 32 of them at a time for a warp.
    static constexpr int planes = L::planes,
                         tiles = int(tiles_along(uint64_t(L::matrix[L::matrices - 1].in))),
                         width = tiles * int(tile_side), steps = width / 32,
                         outputs = int(L::matrix[L::matrices - 1].out),
                         warps = int(last_layer_threads) / 32, own = (steps + warps - 1) / warps,
                         pairs =
                             (width / 2 + int(last_layer_threads) - 1) / int(last_layer_threads),
                         rows = int(last_layer_rows);
    static constexpr bool is_even = L::matrix[L::matrices - 1].in % (2 * last_layer_threads) == 0;
    static_assert(outputs <= int(last_layer_outputs));
    static constexpr uint32_t tile_bytes = rows * 128, plane_bytes = tiles * tile_bytes;

public:
    NACELLE_INLINE LastLayerBlock(const LastLayerArguments& a)
        : a_(a), layer_(a.layer[part == Part::critic ? 1 : 0]), loss_(a.all) {
        memory_ = reinterpret_cast<unsigned char*>(
            block_memory<int(last_layer_bytes(uint64_t(width), planes) / 4)>());
        weights_ = memory_ + planes * plane_bytes;
        partial_ = reinterpret_cast<float*>(weights_ + planes * tiles * 1024);
        slope_ = partial_ + warps * rows * 8;
        bring_weights();
        NACELLE_UNROLL for (int i = 0; i < pairs; ++i) {
            NACELLE_UNROLL for (int o = 0; o < outputs; ++o) gradient_[i][o][0] =
                gradient_[i][o][1] = 0;
        }
    }
    // The outputs alone, of a block's rows.
    NACELLE_INLINE void give_outputs(uint32_t first, float* to, uint32_t pitch) {
        bring(first);
        sum_outputs();
        __syncthreads();
        if (threadIdx.x >= rows || first + threadIdx.x >= a_.stream.rows) return;
        NACELLE_UNROLL for (int o = 0; o < outputs; ++o)
            to[size_t(first + threadIdx.x) * pitch + uint32_t(o)] = output(o);
    }
    // A block is a slot of the sums and of the tallies, and takes rows in turns with the others.
    NACELLE_INLINE void run(const View<E>& view, uint32_t slot) {
        const Minibatch<E, policy> batch(view, a_.all);
        const uint32_t all = tiles_along(a_.stream.rows) * tile_side / rows;
        NACELLE_ROLLED for (uint32_t at = slot; at < all; at += a_.all.policy[policy].parts) {
            const uint32_t first = at * rows;
            bring(first);
            sum_outputs();
            __syncthreads();
            if (threadIdx.x < rows) find_slopes(view, batch, first + threadIdx.x);
            __syncthreads();
            go_back(first);
            __syncthreads();
        }
        store(slot);
    }

private:
    struct alignas(16) Outputs {
        float at[last_layer_outputs];
    };

    // The weights' rows, of which a tile of eight rows is there for each 64 columns.
    NACELLE_INLINE void bring_weights() const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            for (uint32_t i = threadIdx.x; i < uint32_t(tiles) * 64; i += last_layer_threads)
                bring_async(weights_ + uint32_t(p) * tiles * 1024 + 16 * i,
                            layer_.weights.at + size_t(p) * layer_.weights.plane +
                                size_t(i / 64) * tile_numbers + i % 64 * chunk_numbers,
                            true);
        }
    }
    NACELLE_INLINE unsigned char* weights_of(int plane, uint32_t row, uint32_t chunk) const {
        return weights_ + (uint32_t(plane) * tiles + chunk / 8) * 1024 +
               2 * chunk_in_tile(row, chunk % 8);
    }
    static NACELLE_INLINE uint32_t own_column(int i) {
        return 2 * (threadIdx.x + uint32_t(i) * last_layer_threads);
    }
    static NACELLE_INLINE bool has_column(int i) {
        return is_even || own_column(i) < uint32_t(width);
    }
    NACELLE_INLINE void bring(uint32_t first) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const from =
                layer_.seen.at + size_t(p) * layer_.seen.plane +
                size_t(first / tile_side) * layer_.seen.across * tile_numbers +
                first % tile_side * tile_side;
            for (uint32_t i = threadIdx.x; i < plane_bytes / 16; i += last_layer_threads) {
                const uint32_t tile = i / (tile_bytes / 16), chunk = i % (tile_bytes / 16);
                bring_async(memory_ + uint32_t(p) * plane_bytes + 16 * i,
                            from + size_t(tile) * tile_numbers + chunk * chunk_numbers, true);
            }
        }
        close_group();
    }
    // Where a row has a chunk of the columns.
    NACELLE_INLINE unsigned char* chunk_of(int plane, uint32_t row, uint32_t chunk) const {
        return memory_ + uint32_t(plane) * plane_bytes + chunk / 8 * tile_bytes +
               2 * chunk_in_tile(row, chunk % 8);
    }
    static NACELLE_INLINE uint32_t word_of(const unsigned char* chunk, uint32_t column) {
        return *reinterpret_cast<const uint32_t*>(chunk + column % chunk_numbers * 2);
    }
    // Each warp sums over its columns, as soon as they are there.
    NACELLE_INLINE void sum_outputs() const {
        const uint32_t lane = uint32_t(warp_lane()), warp = threadIdx.x / 32;
        await_groups<0>();
        __syncthreads();
        float sum[4] = {};
        NACELLE_UNROLL for (int k = 0; k < own; ++k) {
            const uint32_t step = warp * uint32_t(own) + uint32_t(k), chunk = 4 * step;
            if (steps % warps != 0 && step >= uint32_t(steps)) break;    // the whole warp
            uint32_t left[planes][2][4], right[planes][4];               // of 32 columns
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                load_tiles<false>(left[p][0], chunk_of(p, lane % 16, chunk + lane / 16));
                load_tiles<false>(left[p][1], chunk_of(p, lane % 16, chunk + 2 + lane / 16));
                load_tiles<false>(right[p], weights_of(p, lane % 8, chunk + lane / 8));
            }
            NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
                NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
                    NACELLE_UNROLL for (int p = small; p >= 0; --p)
                        multiply(sum, left[p][half], right[small - p][2 * half],
                                 right[small - p][2 * half + 1]);
                }
            }
        }
        float* const to = partial_ + (warp * rows + lane / 4) * 8 + lane % 4 * 2;
        to[0] = sum[0];
        to[1] = sum[1];
        to[64] = sum[2];
        to[65] = sum[3];
    }
    NACELLE_INLINE float output(int o) const {
        float sum = layer_.bias[o];
        for (int warp = 0; warp < warps; ++warp)
            sum += partial_[(warp * rows + int(threadIdx.x)) * 8 + o];
        return sum;
    }
    NACELLE_INLINE void find_slopes(const View<E>& view, const Minibatch<E, policy>& batch,
                                    uint32_t row) {
        float out[outputs], slope[outputs];
        NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
            out[o] = output(o);
            slope[o] = 0;
        }
        if (has_sample<policy>(a_.stream, row)) {
            const size_t at = place_of_row<E, policy>(view, a_, batch, row);
            if (counts(a_.all.memory[Spec<policy>::group].flag[at]))
                loss_.slopes(out, at, loss_.load(at), slope);
        }
        Outputs all{};
        NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
            all.at[o] = slope[o];
            bias_gradient_[o] += slope[o];
        }
        reinterpret_cast<Outputs*>(slope_)[threadIdx.x] = all;
    }
    // A lane has two columns beside each other, through all rows.
    NACELLE_INLINE void go_back(uint32_t first) {
        NACELLE_UNROLL for (int i = 0; i < pairs; ++i) {
            if (!has_column(i)) continue;
            const uint32_t column = own_column(i);
            float weight[outputs][2];
            NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
                Planes<planes> pair;
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) pair.at[p] =
                    word_of(weights_of(p, uint32_t(o), column / chunk_numbers), column);
                weight[o][0] = pair.low();
                weight[o][1] = pair.high();
            }
            // Of four rows all is read before anything is written, which might be what is read for all that a compiler knows.
            NACELLE_ROLLED for (uint32_t four = 0; four < uint32_t(rows); four += 4) {
                Outputs slope[4];
                Planes<planes> kept[4];
                NACELLE_UNROLL for (uint32_t r = 0; r < 4; ++r) {
                    slope[r] = reinterpret_cast<const Outputs*>(slope_)[four + r];
                    NACELLE_UNROLL for (int p = 0; p < planes; ++p) kept[r].at[p] =
                        word_of(chunk_of(p, four + r, column / chunk_numbers), column);
                }
                NACELLE_UNROLL for (uint32_t r = 0; r < 4; ++r) {
                    const float low = kept[r].low(), high = kept[r].high();
                    float by_low = 0, by_high = 0;
                    NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
                        by_low = fused(slope[r].at[o], weight[o][0], by_low);
                        by_high = fused(slope[r].at[o], weight[o][1], by_high);
                        gradient_[i][o][0] = fused(slope[r].at[o], low, gradient_[i][o][0]);
                        gradient_[i][o][1] = fused(slope[r].at[o], high, gradient_[i][o][1]);
                    }
                    const auto pair = planes_of<planes>(by_low * C::slope(low, low),
                                                        by_high * C::slope(high, high));
                    NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
                        reinterpret_cast<uint32_t*>(
                            layer_.slopes.at + size_t(p) * layer_.slopes.plane +
                            place_in_tiles(first + four + r, column, layer_.slopes.across)) =
                        pair.at[p];
                }
            }
        }
    }
    NACELLE_INLINE void store(uint32_t slot) {
        float* const to = layer_.gradient + size_t(slot) * layer_.slot_floats;
        const bool adds = a_.stream.first > 0;
        const auto put = [&](uint32_t place, float sum) {
            to[place] = adds ? to[place] + sum : sum;
        };
        NACELLE_UNROLL for (int i = 0; i < pairs; ++i) {
            if (!is_even && own_column(i) >= layer_.pitch) continue;
            NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
                NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k)
                    put(uint32_t(o) * layer_.pitch + own_column(i) + k, gradient_[i][o][k]);
            }
        }
        NACELLE_UNROLL for (int o = 0; o < outputs; ++o) {
            const float sum = warp_sum(bias_gradient_[o]);
            if (threadIdx.x == 0) put(outputs * layer_.pitch + uint32_t(o), sum);
        }
        loss_.store(slot, partial_, warps, adds);
    }

    const LastLayerArguments& a_;
    const LastLayer& layer_;
    Either<learns, LossGradient<E, policy, L, part>, NoLoss> loss_;
    unsigned char *memory_, *weights_;
    float *partial_, *slope_;
    float gradient_[pairs][outputs][2], bias_gradient_[outputs] = {};
};

template <class E, int policy>
NACELLE_INLINE void last_layer(const View<E>& view, const LastLayerArguments& a, Items items) {
    with_network<E, policy>(a.all, uint32_t(items.begin / last_layer_threads),
                            [&]<class L, Part part>(uint32_t slot) {
                                LastLayerBlock<E, policy, L, part, true>(a).run(view, slot);
                            });
}

template <class E, int policy>
NACELLE_INLINE void last_outputs(const View<E>&, const LastLayerArguments& a, Items items) {
    using N = Networks<E, policy>;
    const uint32_t first = uint32_t(items.begin / last_layer_threads) * last_layer_rows;
    if (first >= a.stream.rows || (a.found && a.found[stopped] != 0) ||
        (a.present && !a.present[first / 32]))
        return;
    const auto give = [&]<class L, Part part>() {
        LastLayerBlock<E, policy, L, part, false>(a).give_outputs(
            first, a.stream.outputs[a.network], a.stream.pitch[a.network]);
    };
    if (N::shared || a.network == 0) give.template operator()<typename N::Actor, Part::actor>();
    else give.template operator()<typename N::Critic, Part::critic>();
}

}
