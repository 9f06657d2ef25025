#pragma once
#include <learn/gpu/dense/rows.h>
#include <learn/gpu/update/loss_gradient.h>
// From the outputs of a minibatch's rows to the slopes of its loss along them, and what is told of the update.

namespace learn {

// The slopes of one row as planes; chunks behind the last output stay zero.
template <int planes, int outputs>
NACELLE_INLINE void put_slopes(const TiledMatrix& to, uint32_t row, const float* slope) {
    NACELLE_UNROLL for (int first = 0; first < outputs; first += int(chunk_numbers)) {
        struct alignas(16) Words {
            uint32_t at[4];
        } words[planes];
        NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
            const int at = first + 2 * k;
            const auto pair = planes_of<planes>(at < outputs ? slope[at] : 0.0f,
                                                at + 1 < outputs ? slope[at + 1] : 0.0f);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) words[p].at[k] = pair.at[p];
        }
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
            reinterpret_cast<Words*>(to.at + size_t(p) * to.plane +
                                     place_in_tiles(row, uint32_t(first), to.across)) = words[p];
    }
}

// A block is a slot of the tallies and takes rows in turns with the others.
template <class E, int policy, class L, Part part>
NACELLE_INLINE void slopes_of(const View<E>& view, const StreamArguments& a, uint32_t slot) {
    constexpr int network = part == Part::critic ? 1 : 0;
    __shared__ float warp_sums[block_threads / 32 * tally_count];
    const Stream& stream = a.stream;
    const Memory& memory = a.all.memory[Spec<policy>::group];
    const Minibatch<E, policy> batch(view, a.all);
    LossGradient<E, policy, L, part> loss(a.all);
    const uint32_t all = uint32_t(whole_blocks(stream.rows));
    for (uint32_t row = slot * block_threads + threadIdx.x; row < all;
         row += a.all.policy[policy].parts * block_threads) {
        float slope[L::out];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) slope[k] = 0;
        if (has_sample<policy>(stream, row)) {
            const size_t at = place_of_row<E, policy>(view, a, batch, row);
            if (counts(counting_flag<E, GroupOf<E, policy>>(memory, at)))
                loss.slopes(stream.outputs[network] + size_t(row) * stream.pitch[network], at,
                            loss.load(at), slope);
        }
        put_slopes<L::planes, L::out>(stream.slopes[network], row, slope);
    }
    loss.store(slot, warp_sums, block_threads / 32, stream.first > 0);
}
template <class E, int policy>
NACELLE_INLINE void slopes_streamed(const View<E>& view, const StreamArguments& a, Items items) {
    with_network<E, policy>(
        a.all, uint32_t(items.begin / block_threads),
        [&]<class L, Part part>(uint32_t slot) { slopes_of<E, policy, L, part>(view, a, slot); });
}

}
