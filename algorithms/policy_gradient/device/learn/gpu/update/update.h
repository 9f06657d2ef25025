#pragma once
#include <learn/formulas/shuffle.h>
#include <learn/gpu/dense/wide_pairs.h>
#include <learn/gpu/update/loss_gradient.h>
#include <learn/gpu/update/plane_update.h>
#include <learn/gpu/update/prefetched.h>
// The gradient of one minibatch on tensor cores. A block is a slot. Each of its warps takes 16 or 32 samples
// through the network and back in registers and leaves what the layers saw, and the slopes, in shared
// memory; then the warps share out the tiles of the weights, and each sums its own over all samples of the
// block. The sums stay in registers until the slot's last samples are done. Numbers of several planes go through
// the layers in shared memory: plane_update.h.

namespace learn {

template <class E, int policy, class L, Part part> class WarpGradient {
    using G = GroupOf<E, policy>;
    using N = Networks<E, policy>;
    static constexpr FusedLayout<> all = layout_of<L>;
    static constexpr int bands = all.bands, planes = L::planes;
    // Whether the rows of two times have room in a GPU's second-level cache, of which the blocks of an H100 or H200 get
    // half for sure. Wider ones would be thrown out before they are read. Chunks of pairs are all in shared memory by then.
    static constexpr bool comes_early = uint64_t((all.in_chunks && keeps_pairs ? 1 : 2) * 132) *
                                            uint64_t(all.samples) * uint64_t(kept_parts<L::in>) *
                                            sizeof(float) <=
                                        25 << 20;

public:
    NACELLE_INLINE explicit WarpGradient(const Arguments& a)
        : a_(a),
          memory_(a.memory[Spec<policy>::group]),
          state_(a.policy[policy]),
          shared_(block_memory<all.words>()),
          warp_(int(threadIdx.x) / 32),
          rows_(shared_, warp_),
          loss_(a) {
        const auto* const from = reinterpret_cast<const uint32_t*>(state_.prepared) +
                                 (part == Part::critic ? Prepared<E, policy>::critic : 0);
        // The weights are on their way while the rows are cleared and the first samples looked up.
        static_assert(all.prepared % 4 == 0 && all.weights_start % 4 == 0 &&
                      all.row_words % 4 == 0);
        for (int i = all.words_outside + 4 * int(threadIdx.x); i < all.prepared;
             i += 4 * all.threads)
            bring_async(shared_ + all.weights_start + i, from + i, true);
        close_group();
        for (int i = 4 * int(threadIdx.x); i < all.row_words; i += 4 * all.threads)
            *reinterpret_cast<FourWords*>(shared_ + i) = {};
        NACELLE_UNROLL for (int u = 0; u < all.units; ++u) {
            NACELLE_UNROLL for (int k = 0; k < 8; ++k) sum_[u][k / 4][k % 4] = 0;
        }
        NACELLE_UNROLL for (int u = 0; u < all.bias_units; ++u) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) bias_[u][k] = 0;
        }
    }

    // Where the samples from number `first` of a minibatch on lie, one block of them; what is read of them
    // arrives while others are summed. Each lane has a row, where there are 32; else both halves of a warp have
    // the same ones: the first puts what was observed into the network, the second finds the slopes along what comes out.
    // Where samples go by in order, those of the time after come nearer. `end` is behind the last sample of the block's shard.
    NACELLE_INLINE void look_up(const View<E>& view, const Minibatch<E, policy>& batch,
                                uint64_t first, uint64_t stride, uint64_t end) {
        const uint64_t number = first + uint64_t(own_row());
        there_ = number < end;
        at_ = there_ ? batch.place(view, a_, uint32_t(number)) : 0;
        flag_ = counting_flag<E, G>(memory_, at_);
        if (has_obs()) prefetched_.obs(memory_, at_);
        if (has_loss()) prefetched_.kept = loss_.load(at_);
        if constexpr (all.in_chunks && !keeps_pairs) chunk_.read(own_numbers(), 0, 0, memory_);
        if (batch.shuffled || number + stride >= end) return;
        const size_t later = batch.place(view, a_, uint32_t(number + stride));
        if constexpr (has_turn<E, G>) bring_near(memory_.flag + later);
        if (has_obs() && comes_early) prefetched_.bring_row_near(memory_, later);
        if (has_loss()) loss_.bring_sample_near(later);
    }
    // The samples that were looked up last; then those from number `next` on are.
    NACELLE_INLINE void add(const View<E>& view, const Minibatch<E, policy>& batch, uint64_t next,
                            uint64_t stride, uint64_t end) {
        const int row = own_row();
        await_groups<0>();
        __syncthreads();    // the weights are there, and the last samples have been summed
        const bool mine = is_mine();
        if (mine && has_obs() && !all.in_chunks)
            prefetched_.put(shared_ + row * layer_of<L, 0>.pitch, at_, a_);
        __syncwarp();
        if constexpr (planes > 1) {
            rows_.template forward<0>();
            find_slopes(row, mine);
            rows_.template backward<L::count - 1>();
        } else {
            LayerFragments<L, bands> fragments;
            const WeightsInMemory weights{rows_.weights(0)};
            if constexpr (all.in_chunks) see_chunks(fragments);
            else fragments.take(rows_.template seen<0>(), layer_of<L, 0>.pitch);
            fragments.template forward<int(all.in_chunks)>(
                weights, rows_.bias(), [&](int b, int j, const float(&c)[4]) {
                    store_outputs(rows_.output(warp_rows * b), all.out_pitch, j, c);
                });
            find_slopes(row, mine);
            constexpr FusedLayer<int> last = layer_of<L, L::count>;
            uint32_t slope[bands][last.in_tiles][4];
            NACELLE_UNROLL for (int b = 0; b < bands; ++b) fetch_tiles<last.in_tiles>(
                slope[b], rows_.template slopes<L::count>() + warp_rows * b * last.pitch,
                last.pitch);
            store_fragments(fragments);
            backward<L::count - 1>(fragments, slope);
        }
        look_up(view, batch, next, stride, end);
        __syncthreads();
        if constexpr (planes > 1) sum_planes<L>(shared_, warp_, sum_, bias_);
        else sum_layers<0>();
    }
    NACELLE_INLINE void store(uint32_t slot) {
        float* const gradient = state_.gradient + size_t(slot) * Place<E, policy>::size +
                                (part == Part::critic ? Packed<typename N::Actor>::size : 0);
        store_layers<0>(gradient);
        __syncthreads();
        loss_.store(slot, reinterpret_cast<float*>(shared_), all.warps);
    }

private:
    static constexpr bool all_lanes = bands * warp_rows == 32;
    NACELLE_INLINE int own_row() const {
        return warp_ * all.warp_samples + warp_lane() % all.warp_samples;
    }
    NACELLE_INLINE bool is_mine() const { return there_ && counts(flag_); }
    // Where many numbers lie that this lane's row sees, or null.
    NACELLE_INLINE auto own_numbers() const {
        using Row = decltype(kept_row<L::in>(memory_, at_));
        return is_mine() ? kept_row<L::in>(memory_, at_) : Row{};
    }
    NACELLE_INLINE bool has_obs() const { return all_lanes || warp_lane() < warp_rows; }
    NACELLE_INLINE bool has_loss() const { return all_lanes || warp_lane() >= warp_rows; }
    // The first layer of many numbers, whose weights lie in shared memory where there is room for them.
    NACELLE_INLINE void see_chunks(LayerFragments<L, bands>& fragments) {
        const float* const prepared =
            state_.prepared + (part == Part::critic ? Prepared<E, policy>::critic : 0);
        const WeightsInMemory weights{all.words_outside > 0 ? own_words(prepared)
                                                            : rows_.weights(0)};
        uint32_t* const rows = rows_.template seen<0>();
        constexpr int pitch = layer_of<L, 0>.pitch;
        if constexpr (keeps_pairs)
            forward_pairs(fragments, rows, pitch, own_numbers(), weights, rows_.bias());
        else {
            NoSums none;
            forward_chunks(fragments, rows, pitch, chunk_inputs / 2, chunk_, own_numbers(), nullptr,
                           false, memory_, weights, rows_.bias(), none);
        }
    }
    // From what the network said of this warp's samples to the slopes along it.
    NACELLE_INLINE void find_slopes(int row, bool mine) {
        __syncwarp();
        if (has_loss())
            loss_.row(rows_.output(row - warp_ * all.warp_samples), mine, at_, prefetched_.kept,
                      shared_ + layer_of<L, L::count>.slopes + row * layer_of<L, L::count>.pitch);
        __syncwarp();
    }
    template <int l = 1>
    NACELLE_INLINE void store_fragments(const LayerFragments<L, bands>& fragments) const {
        if constexpr (l < L::count) {
            constexpr FusedLayer<int> its = layer_of<L, l>;
            NACELLE_UNROLL for (int b = 0; b < bands; ++b)
                put_tiles<its.in_tiles>(rows_.template seen<l>() + warp_rows * b * its.pitch,
                                        its.pitch, fragments.y[b] + its.inputs);
            store_fragments<l + 1>(fragments);
        }
    }
    // From the slopes along layer l's outputs to those along its inputs, before their activation.
    template <int l, int tiles>
    NACELLE_INLINE void backward(const LayerFragments<L, bands>& fragments,
                                 const uint32_t (&slope)[bands][tiles][4]) const {
        if constexpr (l > 0) {
            constexpr FusedLayer<int> its = layer_of<L, l>;
            constexpr int across = 2 * its.in_tiles, together = tiles_at_once(across);
            uint32_t next[bands][its.in_tiles][4];
            const WeightsInMemory turned{rows_.weights(all.turned_start)};
            NACELLE_UNROLL for (int first = 0; first < across; first += together) {
                float c[bands][together][4];
                begin_tiles(c);
                tile_products<tiles>(c, slope, 0, turned, its.turned + first, across);
                NACELLE_UNROLL for (int b = 0; b < bands; ++b) {
                    NACELLE_UNROLL for (int k = 0; k < together; ++k) {
                        const int j = first + k, tile = its.inputs + j / 2, word = j % 2 * 2;
                        uint32_t* const to = next[b][j / 2] + word;
                        to[0] = fragments.activate_backward(b, tile, word, c[b][k][0], c[b][k][1]);
                        to[1] =
                            fragments.activate_backward(b, tile, word + 1, c[b][k][2], c[b][k][3]);
                    }
                }
            }
            NACELLE_UNROLL for (int b = 0; b < bands; ++b) put_tiles<its.in_tiles>(
                rows_.template slopes<l>() + warp_rows * b * its.pitch, its.pitch, next[b]);
            backward<l - 1, its.in_tiles>(fragments, next);
        }
    }
    // Sixteen samples' part of a pair of tiles of weights: what was seen, turned, times the slopes. A warp that
    // has fewer pairs than others repeats one and throws it away: without branches loads run ahead of products.
    template <int l> NACELLE_INLINE void sum_layers() {
        if constexpr (l == 0 && all.in_chunks) {
            sum_chunks();
            sum_layers<1>();
        } else if constexpr (l < L::count) {
            constexpr FusedLayer<int> its = layer_of<L, l>, above = layer_of<L, l + 1>;
            constexpr int across = its.across, units = its.units;
            // Whether all of a warp's tiles share their inputs.
            constexpr bool one_row = across % units == 0;
            const uint32_t* const seen_corner = shared_ + its.seen + turned_corner(its.pitch);
            const uint32_t* const slope_corner = shared_ + above.slopes + tile_corner(above.pitch);
            NACELLE_UNROLL for (int step = 0; step < all.samples; step += 16) {
                uint32_t inputs[4], outputs[4];
                NACELLE_UNROLL for (int u = 0; u < units; ++u) {
                    const int unit = min(warp_ * units + u, its.in_tiles * across - 1),
                              m = unit / across, n = unit % across;
                    if (u == 0 || !one_row)
                        load_tiles<true>(inputs, seen_corner + step * its.pitch + 8 * m);
                    load_tiles<true>(outputs, slope_corner + step * above.pitch + 8 * n);
                    multiply(sum_[its.first_unit + u][0], inputs, outputs[0], outputs[1]);
                    multiply(sum_[its.first_unit + u][1], inputs, outputs[2], outputs[3]);
                    if constexpr (units == 1) add_slopes(bias_[its.first_bias_unit], outputs);
                }
                NACELLE_UNROLL for (int u = 0; u < its.bias_units && units > 1; ++u) {
                    const int n = (warp_ + u * all.warps) % across;
                    load_tiles<true>(outputs, slope_corner + step * above.pitch + 8 * n);
                    add_slopes(bias_[its.first_bias_unit + u], outputs);
                }
            }
            sum_layers<l + 1>();
        }
    }
    // The same for the first layer of many numbers: a warp has some rows of tiles and all that lies across.
    NACELLE_INLINE void sum_chunks() {
        constexpr FusedLayer<int> its = layer_of<L, 0>, above = layer_of<L, 1>;
        constexpr int across = its.across, down = its.units / across;
        const uint32_t* const seen_corner = shared_ + its.seen + turned_corner(its.pitch);
        const uint32_t* const slope_corner = shared_ + above.slopes + tile_corner(above.pitch);
        NACELLE_ROLLED for (int step = 0; step < all.samples; step += 16) {
            uint32_t inputs[4], outputs[across][4];
            NACELLE_UNROLL for (int n = 0; n < across; ++n)
                load_tiles<true>(outputs[n], slope_corner + step * above.pitch + 8 * n);
            NACELLE_UNROLL for (int u = 0; u < down; ++u) {
                const int m = min(warp_ * down + u, its.in_tiles - 1);
                load_tiles<true>(inputs, seen_corner + step * its.pitch + 8 * m);
                NACELLE_UNROLL for (int i = 0; keeps_pairs && i < 4; ++i) inputs[i] =
                    cut_pair(inputs[i]);
                NACELLE_UNROLL for (int n = 0; n < across; ++n) {
                    multiply(sum_[u * across + n][0], inputs, outputs[n][0], outputs[n][1]);
                    multiply(sum_[u * across + n][1], inputs, outputs[n][2], outputs[n][3]);
                }
            }
            NACELLE_UNROLL for (int u = 0; u < its.bias_units; ++u) {
                load_tiles<true>(inputs, slope_corner + step * above.pitch +
                                             8 * ((warp_ + u * all.warps) % across));
                add_slopes(bias_[u], inputs);
            }
        }
    }
    // Which pair of columns a warp's sum of slopes is of, or one that does not exist.
    template <int l> NACELLE_INLINE int bias_column(int u) const {
        if constexpr (layer_of<L, l>.units > 1 || planes > 1) return warp_ + u * all.warps;
        else return warp_ < layer_of<L, l>.across ? warp_ : layer_of<L, l>.across;
    }
    template <int l> NACELLE_INLINE void store_layers(float* gradient) const {
        if constexpr (l < L::count) {
            constexpr FusedLayer<int> its = layer_of<L, l>;
            constexpr int across = its.across, units = its.units, in = L::width[l],
                          out = L::width[l + 1], pitch = padded<out>;
            float* const to = gradient + Packed<L>::template forward<l>();
            const int g = warp_lane() / 4, t = warp_lane() % 4;
            NACELLE_UNROLL for (int u = 0; u < units; ++u) {
                const int unit = warp_ * units + u, m = unit / across, n = unit % across;
                NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                    const int place = 16 * m + g + k % 4 / 2 * 8,
                              i = l == 0 && reads_in_chunks<L> ? column_in_chunks(place) : place,
                              o = 16 * n + 8 * (k / 4) + 2 * t + k % 2;
                    if (unit < its.in_tiles * across && i < in && o < out)
                        to[i * pitch + o] = sum_[its.first_unit + u][k / 4][k % 4];
                }
            }
            NACELLE_UNROLL for (int u = 0; u < its.bias_units; ++u) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    const int o = 16 * bias_column<l>(u) + k / 2 * 8 + 2 * t + k % 2;
                    if (g == 0 && o < out) to[in * pitch + o] = bias_[its.first_bias_unit + u][k];
                }
            }
            store_layers<l + 1>(gradient);
        }
    }

    const Arguments& a_;
    const Memory& memory_;
    const PolicyState& state_;
    uint32_t* shared_;
    int warp_;
    Either<(planes > 1), PlaneRows<L>, WarpStage<L>> rows_;
    bool there_ = false;
    uint8_t flag_ = 0;
    size_t at_ = 0;
    Prefetched<E, policy> prefetched_;
    // The first of many numbers, which arrive while other samples are summed.
    ChunkOfFloats<L::in> chunk_;
    float sum_[all.units][2][4];
    float bias_[all.bias_units][4];
    LossGradient<E, policy, L, part> loss_;
};

template <class E, int policy>
NACELLE_INLINE void gradient_warps(const View<E>& view, const Arguments& a, Items items) {
    constexpr uint64_t threads = uint64_t(layout_of<typename Networks<E, policy>::Actor>.threads);
    with_network<E, policy>(
        a, uint32_t(items.begin / threads), [&]<class L, Part part>(uint32_t slot) {
            const Minibatch<E, policy> batch(view, a);
            WarpGradient<E, policy, L, part> tile_gradient(a);
            constexpr uint64_t together = uint64_t(layout_of<L>.samples);
            const ShardBlocks cut(batch.count, a.policy[policy].parts / shards);
            const uint64_t begin = cut.shard_of(slot) * uint64_t(cut.items),
                           end = begin + cut.items, stride = cut.blocks * together,
                           own = begin + cut.own(slot) * together;
            tile_gradient.look_up(view, batch, own, stride, end);
            for (uint64_t first = own; first < end; first += stride)
                tile_gradient.add(view, batch, first + stride, stride, end);
            tile_gradient.store(slot);
        });
}

}
