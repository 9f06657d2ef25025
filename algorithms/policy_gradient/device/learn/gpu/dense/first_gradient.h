#pragma once
#include <learn/gpu/dense/cluster_products.h>
#include <learn/gpu/dense/few_inputs.h>
// Slopes on their way back to a first layer that sees few numbers: they make the gradient of its weights where they are
// found, and nobody else needs them, so they do not go to memory. A cluster stays with a stripe of the columns, and each
// group of four warps keeps its sums until the end.

namespace learn {

// A group's stripe, and the slot that its sums go to.
template <class Part> struct GroupStripe {
    const Product* product;
    uint32_t column, end;    // its first tile, and the one behind its last one
    float* slot;

    NACELLE_INLINE GroupStripe(const Products& all, uint32_t block) {
        const uint32_t cluster = block / cluster_blocks, group = threadIdx.x / 128;
        const Part part = stripe_part<Part>(all, cluster % all.stripes, 0);
        product = part.product;
        column = part.column;
        end = part.end_tile();
        slot = product->few_sums +
               size_t(cluster / all.stripes * stripe_slots + block % cluster_blocks * 2 + group) *
                   product->slot_floats;
    }
    template <int tiles>
    NACELLE_INLINE void store(FewInputsGradient<tiles>& sums, uint32_t first, bool adds) const {
        auto place = FewInputsPlace::of_first(slot, product->inputs, product->n, product->pitch);
        if (!Part::alike) place.end = min(place.end, end * tile_side);
        sums.store(place, first * tile_side, adds);
    }
};
// Where the numbers lie that these rows see; null behind the last ones, whose slopes nobody has made.
NACELLE_INLINE const uint16_t* few_of(const Product& p, uint32_t row) {
    return row < tiles_along(p.m) ? p.few + size_t(row) * tile_numbers : nullptr;
}

#if LEARN_WGMMA
template <class Part, int policy> class FirstGradientTask : public BackwardTask<policy> {
    using Base = BackwardTask<policy>;
    using Base::chunks;
    static constexpr uint32_t tile_bytes = tile_numbers * 2;

public:
    NACELLE_INLINE FirstGradientTask(const Products& all, uint32_t tiles)
        : Base(tiles), all_(all), tiles_(tiles + TileSender::group() * 2 * tile_bytes) {}
    NACELLE_INLINE void look_ahead(const Part& part) {
        Base::look_ahead(part);
        if (const uint16_t* const few = few_of(*part.product, part.row + TileSender::group()))
            inputs_.look_at(few, part.product->inputs);
    }
    NACELLE_INLINE void finish(const Part& part, const float (&sum)[8 * chunks][4]) {
        if (!few_of(*part.product, part.row + TileSender::group())) return;
        NACELLE_UNROLL for (int c = 0; c < chunks; ++c) {
            if (!Part::alike && uint32_t(c) >= part.tiles) continue;
            const ChunkWords<1> slope = this->slopes_of(part, sum, c);
            // There are two places in turns, and who writes one has met those who read it since.
            const uint32_t tile = tiles_ + turn_ * tile_bytes;
            turn_ ^= 1;
            const uint32_t lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
            NACELLE_UNROLL for (uint32_t q = 0; q < 4; ++q) {
                const uint32_t words[4] = {slope.at[q][0].at[0], slope.at[q][1].at[0],
                                           slope.at[q][2].at[0], slope.at[q][3].at[0]};
                store_tiles_at(tile + 2 * chunk_in_tile(row, 2 * q + lane / 16), words);
            }
            meet_at(3 + TileSender::group(), 128);
            sums_.add(c, inputs_,
                      [&](uint32_t(&to)[4], uint32_t at) { load_tiles_at<true>(to, tile + at); });
        }
    }
    NACELLE_INLINE void end() {
        const GroupStripe<Part> stripe(all_, blockIdx.x);
        stripe.store(sums_, stripe.column, all_.adds);
    }

private:
    const Products& all_;
    uint32_t tiles_, turn_ = 0;
    FewInputs inputs_;
    FewInputsGradient<chunks> sums_;
};
#endif

template <class E, int policy>
NACELLE_INLINE void first_gradient(const View<E>&, const Products& all, Items items) {
    using Part = PartOf<E, policy>;
#if LEARN_WGMMA
    const uint32_t block = uint32_t(items.begin / cluster_threads(true));
    ClusterSum<Part, false, true> sum;
    FirstGradientTask<Part, policy> task(all, shared_address(sum.results()));
    sum.run(all, block, task);
#else
    const uint32_t block = uint32_t(items.begin / cluster_threads(false)),
                   group = threadIdx.x / 128, tile_bytes = tile_numbers * 2;
    const GroupStripe<Part> stripe(all, block);
    for (uint32_t column = stripe.column; column < stripe.end; column += 2) {
        FewInputsGradient<2> sums;
        for (uint32_t i = block / cluster_blocks; i < all.parts; i += all.clusters) {
            Part part = cluster_part<Part>(all, i, block % cluster_blocks);
            part.column = column;
            if (part.row >= tiles_along(part.product->m) || is_idle(all, part.row)) continue;
            slopes_of_part<policy, 128>(part, [&](const auto& image) {
                const uint16_t* const few = few_of(*part.product, part.row + group);
                if (threadIdx.x >= 256 || !few) return;
                FewInputs inputs;
                inputs.look_at(few, part.product->inputs);
                for (uint32_t c = 0; c < 2; ++c)
                    if (column + c < stripe.end)
                        sums.add(int(c), inputs, [&](uint32_t(&to)[4], uint32_t at) {
                            load_tiles<true>(to, image.at + (2 * group + c) * tile_bytes + at);
                        });
            });
            __syncthreads();
        }
        if (threadIdx.x < 256) stripe.store(sums, column, all.adds);
    }
#endif
}

}
