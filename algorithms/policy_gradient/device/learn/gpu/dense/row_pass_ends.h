#pragma once
#include <learn/gpu/dense/few_inputs.h>
#include <learn/gpu/dense/row_block.h>
// The gradients of the first layer and of the last one of a row pass, by each group of 64 rows on top of what a slot of
// its own has by then.

namespace learn {

template <class L> class RowPassEnds {
    using Block = RowBlock<L>;

public:
    NACELLE_INLINE RowPassEnds(const PassArguments& pass, Block& block, uint32_t network,
                               uint32_t slot)
        : pass_(pass), block_(block), network_(network), slot_(slot) {}

    NACELLE_INLINE void sum_last(const unsigned char* slopes, uint32_t b) const {
        constexpr int hidden = Block::hidden;
        const RowPassEnd& end = pass_.last[network_];
        const uint32_t out = block_.layer(hidden).out, output = threadIdx.x % 32 / 4;
        FewInputs outputs;
        outputs.read(slopes);
        sum_end<hidden>(
            outputs,
            FewInputsPlace::of_last(slot_of(end), out, uint32_t(L::width[hidden]), end.pitch), b);
        const float bias = outputs.total();
        if (threadIdx.x % 128 / 32 != 0 || threadIdx.x % 4 != 0 || output >= out) return;
        float* const to = slot_of(end) + out * end.pitch + output;
        *to = adds(b) ? *to + bias : bias;
    }
    NACELLE_INLINE void sum_first(uint32_t b) const {
        const RowPassEnd& end = pass_.first[network_];
        FewInputs inputs;
        inputs.look_at(pass_.with.stream.seen.at +
                           (size_t(b) * Block::down + Block::group_down()) * tile_numbers,
                       uint32_t(L::in));
        sum_end<1>(inputs,
                   FewInputsPlace::of_first(slot_of(end), uint32_t(L::in), uint32_t(L::width[1]),
                                            end.pitch),
                   b);
    }
    // Of a block that has no rows.
    NACELLE_INLINE void clear() const {
        for (const RowPassEnd* const end : {&pass_.first[network_], &pass_.last[network_]})
            NACELLE_ROLLED for (uint32_t i = Block::in_rows(); i < end->slot_floats; i += 128)
                slot_of(*end)[i] = 0;
    }

private:
    NACELLE_INLINE float* slot_of(const RowPassEnd& end) const {
        return end.gradient +
               size_t(slot_ * row_pass_groups + Block::group_down()) * end.slot_floats;
    }
    NACELLE_INLINE bool adds(uint32_t b) const {
        return b != block_.first() || pass_.with.stream.first > 0;
    }
    template <int l> using EndSums = FewInputsGradient<int(tiles_along(uint64_t(L::width[l])))>;
    template <int l>
    NACELLE_INLINE void sum_end(const FewInputs& numbers, const FewInputsPlace& place,
                                uint32_t b) const {
        constexpr bool whole = L::width[l] % int(tile_side) == 0;
        EndSums<l> sums;
        if (adds(b)) sums.template begin_at<whole>(place);
        NACELLE_UNROLL for (int c = 0; c < EndSums<l>::count; ++c)
            sums.add(c, numbers, [&](uint32_t(&to)[4], uint32_t at) {
                load_tiles<true>(to, block_.level(l) + uint32_t(c) * Block::tile_bytes + at);
            });
        sums.template store<whole>(place);
    }

    const PassArguments& pass_;
    Block& block_;
    const uint32_t network_, slot_;
};

}
