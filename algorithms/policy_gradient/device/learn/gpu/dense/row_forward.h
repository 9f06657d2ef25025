#pragma once
#include <learn/gpu/dense/products.h>
#include <learn/gpu/dense/row_pass_columns.h>
// Rows through all layers of a network to its outputs, as a row pass takes them: what levels hold never goes to memory.

namespace learn {

template <class E, int policy> class RowForward {
    using L = typename Networks<E, policy>::Actor;
    using Block = RowBlock<L>;
    static constexpr RowPassLayout layout = Block::layout;
    static constexpr int planes = L::planes, hidden = Block::hidden;
    static constexpr Activation f = L::activation;

public:
    static NACELLE_INLINE void run(const PassArguments& a, uint32_t slot, uint32_t turns) {
        Block block(a.with.stream, a.layers[0], slot, turns);
#if LEARN_WGMMA
        if (threadIdx.x == 0) block.begin();
        __syncwarp();
        meet_cluster();
        if (threadIdx.x >= 32 * pass_warps) {
            keep_few_registers<56>();
            if (threadIdx.x == 32 * pass_warps) block.template bring_weights<false>();
            __syncwarp();
            meet_cluster();
            return;
        }
        take_registers<224>();
#else
        if (threadIdx.x >= 32 * pass_warps) return;    // the others do not wait for it then
#endif
        RowForward(a.with.stream, block).through();
#if LEARN_WGMMA
        __syncwarp();
        meet_cluster();    // none leaves while the other one still gives slots back to it
#endif
    }

private:
    NACELLE_INLINE RowForward(const Stream& stream, Block& block)
        : stream_(stream), block_(block) {}

    NACELLE_INLINE void through() {
        if (block_.first() < block_.end()) block_.bring_seen(block_.first());
        NACELLE_ROLLED for (uint32_t b = block_.first(); b < block_.end(); b = block_.next(b)) {
            block_.await_level();
            forward<Block::steps_along(L::in)>(0);
            NACELLE_ROLLED for (int l = 1; l < hidden; ++l) forward<4>(l);
            outputs(b);
            Block::settle();    // all have read the last level
            if (block_.next(b) < block_.end()) block_.bring_seen(block_.next(b));
        }
        block_.template pass_turn_by<false>();
    }
    // From level l to the next one.
    template <uint32_t ends> NACELLE_INLINE void forward(int l) {
        const RowPassLayer layer = block_.layer(l);
        const uint32_t tiles = tiles_along(layer.out), first = Block::own_first(tiles),
                       own = Block::own_count(tiles);
        unsigned char* const to = block_.level(uint32_t(l) + 1);
        if (Block::may_rest() && own == 0) block_.template pass_by<false, false>(layer);
        else
            Block::with_columns(own, [&]<int n>() {
                float c[8 * n][4];
                block_.template multiply_by<n, false, false, ends>(
                    c, layer, block_.level(uint32_t(l)), layout.plane_bytes, first);
                add_bias<n>(c, layer, first);
                each_four<Block, n>(c, first, tiles, [&](uint32_t q, const float(&x)[4][2]) {
                    Planes<planes> bent[4];
                    NACELLE_UNROLL for (int i = 0; i < 4; ++i) bent[i] =
                        activated_pair<f, planes>(x[i][0], x[i][1]);
                    Block::put(Block::place(to, first, q), bent);
                });
            });
        Block::settle();
    }
    NACELLE_INLINE void outputs(uint32_t b) {
        const RowPassLayer layer = block_.layer(hidden);
        if (Block::group_across() != 0) return block_.template pass_by<false, false>(layer);
        float c[8][4];
        block_.template multiply_by<1, false, false, 4>(c, layer, block_.level(uint32_t(hidden)),
                                                        layout.plane_bytes, 0);
        const uint32_t first = b * layout.rows + Block::group_down() * tile_side +
                               threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
        NACELLE_UNROLL for (uint32_t q = 0; q < chunks_along(L::out); ++q) {
            NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                const uint32_t column = 8 * q + 2 * (threadIdx.x % 4) + k % 2,
                               row = first + k / 2 * 8;
                if (column < uint32_t(L::out) && row < stream_.rows)
                    stream_.outputs[0][size_t(row) * stream_.pitch[0] + column] =
                        c[q][k] + layer.bias[column];
            }
        }
    }

    const Stream& stream_;
    Block& block_;
};

// Of the policy's first network; its blocks are as many as an update has.
template <class E, int policy>
NACELLE_INLINE void row_forward(const View<E>&, const PassArguments& a, Items items) {
    const uint32_t networks = Networks<E, policy>::separate ? 2 : 1;
    RowForward<E, policy>::run(a, uint32_t(items.begin / pass_threads),
                               a.with.all.policy[policy].parts * networks);
}

}
