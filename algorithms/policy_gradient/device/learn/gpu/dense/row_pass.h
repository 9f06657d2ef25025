#pragma once
#include <learn/gpu/dense/products.h>
#include <learn/gpu/dense/row_pass_columns.h>
#include <learn/gpu/dense/row_pass_ends.h>
#include <learn/gpu/dense/slopes.h>
// A minibatch's rows through all layers of a network, to its loss and back: what levels hold stays in a block's shared
// memory. What the gradient of the weights reads goes to memory on the way: what each layer saw, and the slopes.

namespace learn {

// One text for both networks, whose hidden layers are alike: a second one would not fit into a multiprocessor's cache of
// instructions beside the first. Of the critic's outputs those behind its only one have slopes of zero.
template <class E, int policy> class RowPass {
    using N = Networks<E, policy>;
    using L = typename N::Actor;
    using Block = RowBlock<L>;
    static constexpr bool shared = N::shared;
    static constexpr RowPassLayout layout = Block::layout;
    static constexpr int planes = L::planes, hidden = Block::hidden;
    static constexpr bool sums_ends = row_pass_sums_ends(L::in, L::out, planes);
    static constexpr Activation f = L::activation;
    using C = Curve<f>;
    using Choices = LossGradient<E, policy, L, shared ? Part::whole : Part::actor>;
    using Values = LossGradient<E, policy, typename N::Critic, Part::critic>;

public:
    // Blocks of a network are slots of the tallies and take rows in turns.
    static NACELLE_INLINE void run(const View<E>& view, const PassArguments& a, uint32_t network,
                                   uint32_t slot) {
        Block block(a.with.stream, a.layers[network], slot, a.with.all.policy[policy].parts);
#if LEARN_WGMMA
        if (threadIdx.x == 0) block.begin();
        __syncwarp();
        meet_cluster();
        if (threadIdx.x >= 32 * pass_warps) {
            keep_few_registers<56>();
            if (threadIdx.x == 32 * pass_warps) block.bring_weights();
            __syncwarp();
            meet_cluster();
            return;
        }
        take_registers<224>();
#else
        if (threadIdx.x >= 32 * pass_warps) return;    // the others do not wait for it then
#endif
        __shared__ float warp_sums[pass_warps * tally_count];
        const bool adds = a.with.stream.first > 0;
        Choices choices(a.with.all);
        Values values(a.with.all);
        RowPass(view, a, block, network, slot).through(choices, values);
        const auto store = [&](auto& loss) {
            loss.sum_warps(warp_sums);
            Block::meet_all();
            loss.add_up(slot, warp_sums, pass_warps, adds);
        };
        if (shared || network == 0) store(choices);
        else store(values);
#if LEARN_WGMMA
        __syncwarp();
        meet_cluster();    // none leaves while the other one still gives slots back to it
#endif
    }

private:
    NACELLE_INLINE RowPass(const View<E>& view, const PassArguments& a, Block& block,
                           uint32_t network, uint32_t slot)
        : view_(view),
          a_(a.with),
          batch_(view, a.with.all),
          block_(block),
          ends_(a, block, network, slot),
          network_(network) {}
    NACELLE_INLINE bool has_values_only() const { return !shared && network_ == 1; }

    NACELLE_INLINE void through(Choices& choices, Values& values) {
        const Stream& stream = a_.stream;
        const Memory& memory = a_.all.memory[Spec<policy>::group];
        if (block_.first() < block_.end()) block_.bring_seen(block_.first());
        NACELLE_ROLLED for (uint32_t b = block_.first(); b < block_.end(); b = block_.next(b)) {
            // A row's own thread asks early for what its rollout found.
            bool counted = false;
            size_t at = 0;
            KeptSample<E, policy> kept{};
            const uint32_t row =
                b * layout.rows + Block::group_down() * tile_side + Block::in_rows();
            if (Block::in_rows() < tile_side && has_sample<policy>(stream, row)) {
                at = place_of_row<E, policy>(view_, a_, batch_, row);
                counted = counts(memory.flag[at]);
                kept = has_values_only() ? values.load(at) : choices.load(at);
            }
            forward<Block::steps_along(L::in)>(0, b);
            NACELLE_ROLLED for (int l = 1; l < hidden; ++l) forward<4>(l, b);
            unsigned char* const slot = outputs(b);
            if (Block::in_rows() < tile_side) {
                float slope[L::out];
                NACELLE_UNROLL for (int k = 0; k < L::out; ++k) slope[k] = 0;
                const uint32_t own = Block::group_down() * tile_side + Block::in_rows();
                const float* const out =
                    reinterpret_cast<const float*>(slot) + own * layout.out_pitch;
                if (counted) {
                    if (has_values_only()) values.slopes(out, at, kept, slope);
                    else choices.slopes(out, at, kept, slope);
                }
                leave_slopes(slot, own, slope);
            }
            Block::settle();
            unsigned char* const slopes =
                slot + layout.slopes_at + Block::group_down() * Block::tile_bytes;
            if constexpr (sums_ends) {
                ends_.sum_last(slopes, b);
                Block::settle();    // before others take the places of what it has read
                if constexpr (C::needs_input) block_.bring_kept(uint32_t(hidden), b);
            } else {
                const TiledMatrix& to = stream.slopes[network_];
                Block::leave(to.at, to.plane, slopes, Block::down * Block::tile_bytes, 1, b);
            }
            backward<true>(hidden, slopes, b);
            NACELLE_ROLLED for (int l = hidden - 1; l > 0; --l) backward<false>(l, slopes, b);
            if constexpr (sums_ends) ends_.sum_first(b);
        }
        if constexpr (sums_ends) {
            if (block_.first() >= block_.end() && a_.stream.first == 0) ends_.clear();
        }
        block_.pass_turn_by();
        Block::end_leaving();
    }
    // The slopes of one row as tiles in shared memory; what lies behind the last output is zero.
    static NACELLE_INLINE void leave_slopes(unsigned char* slot, uint32_t row, const float* slope) {
        auto* const numbers = reinterpret_cast<uint16_t*>(slot + layout.slopes_at);
        constexpr uint32_t plane = Block::down * tile_numbers;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            for (uint32_t chunk = chunks_along(L::out); chunk < tile_side / chunk_numbers; ++chunk)
                *reinterpret_cast<Four*>(numbers + uint32_t(p) * plane +
                                         place_in_tiles(row, chunk * chunk_numbers, 1)) = Four{};
        }
        put_slopes<planes, L::out>(TiledMatrix{numbers, plane, 1}, row, slope);
    }

    // From level l to the next one.
    template <uint32_t ends> NACELLE_INLINE void forward(int l, uint32_t b) {
        const RowPassLayer layer = block_.layer(l);
        const uint32_t tiles = tiles_along(layer.out), first = Block::own_first(tiles),
                       own = Block::own_count(tiles);
        unsigned char* const to = block_.level(uint32_t(l) + 1);
        if (l == 0) block_.await_level();
        const auto left = [&] {
            if (l == 0) Block::settle();    // the last rows' slopes have left the buffer
        };
        if (Block::may_rest() && own == 0) {
            block_.template pass_by<false, false>(layer);
            left();
            if constexpr (C::needs_input) {
                Block::settle();
                Block::leave(layer.straight, layer.level_plane, to, layout.plane_bytes, tiles, b);
                Block::settle();
            }
        } else
            Block::with_columns(own, [&]<int n>() {
                float c[8 * n][4];
                block_.template multiply_by<n, false, false, ends>(
                    c, layer, block_.level(uint32_t(l)), layout.plane_bytes, first);
                left();
                add_bias<n>(c, layer, first);
                if constexpr (C::needs_input) {
                    each_four<Block, n>(c, first, tiles, [&](uint32_t q, const float(&x)[4][2]) {
                        Planes<planes> straight[4];
                        NACELLE_UNROLL for (int i = 0; i < 4; ++i) straight[i] =
                            planes_of<planes>(x[i][0], x[i][1]);
                        Block::put(Block::place(to, first, q), straight);
                    });
                    Block::settle();
                    Block::leave(layer.straight, layer.level_plane, to, layout.plane_bytes, tiles,
                                 b);
                    Block::settle();
                }
                each_four<Block, n>(c, first, tiles, [&](uint32_t q, const float(&x)[4][2]) {
                    Planes<planes> bent[4];
                    NACELLE_UNROLL for (int i = 0; i < 4; ++i) bent[i] =
                        activated_pair<f, planes>(x[i][0], x[i][1]);
                    Block::put(Block::place(to, first, q), bent);
                });
            });
        Block::settle();
        if (sums_ends && l + 1 == hidden) return;    // nobody else reads what the last layer does
        Block::leave(layer.seen, layer.level_plane, to, layout.plane_bytes, tiles, b);
    }
    // The outputs of these rows as floats in the ring's next slot, which stays taken.
    NACELLE_INLINE unsigned char* outputs(uint32_t b) {
        const RowPassLayer layer = block_.layer(hidden);
        float c[8][4];
        const bool own = Block::group_across() == 0;
        if (own)
            block_.template multiply_by<1, false, false, 4>(
                c, layer, block_.level(uint32_t(hidden)), layout.plane_bytes, 0);
        else block_.template pass_by<false, false>(layer);
        unsigned char* const slot = block_.take_empty();
        if (own) {
            auto* const out = reinterpret_cast<float*>(slot);
            const uint32_t row =
                Block::group_down() * tile_side + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
            NACELLE_UNROLL for (uint32_t q = 0; q < chunks_along(L::out); ++q) {
                NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                    const uint32_t column = 8 * q + 2 * (threadIdx.x % 4) + k % 2;
                    if (column < uint32_t(L::out))
                        out[(row + k / 2 * 8) * layout.out_pitch + column] =
                            c[q][k] + layer.bias[column];
                }
            }
        }
        Block::meet();
        if constexpr (C::needs_input && !sums_ends) block_.bring_kept(uint32_t(hidden), b);
        return slot;
    }
    // From the slopes of the level behind to those along what went into level l's activation.
    template <bool last>
    NACELLE_INLINE void backward(int l, const unsigned char* last_slopes, uint32_t b) {
        const RowPassLayer layer = block_.layer(l);
        const uint32_t tiles = tiles_along(layer.in), first = Block::own_first(tiles),
                       own = Block::own_count(tiles);
        const bool comes = C::needs_input || l < hidden - 1;
        unsigned char* const to = block_.level(uint32_t(l));
        if (comes && !last) block_.bring_kept(uint32_t(l), b);
        const auto turn = [&] {
            if (comes) block_.await_level();
            if (l > 1) return;
            Block::settle();
            if (block_.next(b) < block_.end()) block_.bring_seen(block_.next(b));
        };
        if (Block::may_rest() && own == 0) {
            block_.template pass_by<true, last>(layer);
            if constexpr (last) block_.give_back_empty();
            turn();
        } else
            Block::with_columns(own, [&]<int n>() {
                float c[8 * n][4];
                if constexpr (last) {
                    block_.template multiply_by<n, true, true, Block::steps_along(L::out)>(
                        c, layer, last_slopes, Block::down * Block::tile_bytes, first);
                    block_.give_back_empty();
                } else
                    block_.template multiply_by<n, true, false, 4>(
                        c, layer, block_.level(uint32_t(l) + 1), layout.plane_bytes, first);
                turn();
                each_four<Block, n>(c, first, tiles, [&](uint32_t q, const float(&x)[4][2]) {
                    unsigned char* const place = Block::place(to, first, q);
                    Planes<planes> kept[4], slope[4];
                    Block::get(place, kept);
                    NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                        const float low = kept[i].low(), high = kept[i].high();
                        slope[i] = planes_of<planes>(x[i][0] * C::slope(low, low),
                                                     x[i][1] * C::slope(high, high));
                    }
                    Block::put(place, slope);
                });
            });
        Block::settle();
        if (sums_ends && l == 1) return;    // they make the first layer's gradient
        const RowPassLayer& before = block_.layer(l - 1);
        Block::leave(before.slopes, before.level_plane, to, layout.plane_bytes, tiles, b);
    }

    const View<E>& view_;
    const StreamArguments& a_;
    const Minibatch<E, policy> batch_;
    Block& block_;
    const RowPassEnds<L> ends_;
    const uint32_t network_;
};

// A block takes its turns for one of the policy's networks.
template <class E, int policy>
NACELLE_INLINE void row_pass(const View<E>& view, const PassArguments& a, Items items) {
    const PolicyState& state = a.with.all.policy[policy];
    if (state.found[stopped] != 0) return;
    const uint32_t block = uint32_t(items.begin / pass_threads),
                   network = Networks<E, policy>::shared || block < state.parts ? 0 : 1;
    RowPass<E, policy>::run(view, a, network, block - network * state.parts);
}

}
