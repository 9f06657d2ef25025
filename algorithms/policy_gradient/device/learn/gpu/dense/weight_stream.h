#pragma once
#include <learn/gpu/tile/prepared.h>
#include <learn/gpu/update/loss_gradient.h>
#include <learn/layout/resident_layout.h>
// How the warps of a block share the layers of a network, and how each of them brings the weights that it needs where a
// block has no room for all: stage by stage through a ring of its own, layer after layer, step after step. No two warps
// need the same ones, so that no warp waits for another.

namespace learn {

// A network, and the block that it lives in.
template <class In, int in_rows, int in_stages, int in_warps = resident_warps>
struct ResidentBlock {
    using L = In;
    static constexpr int rows = in_rows, stages = in_stages, warps = in_warps, threads = 32 * warps;
    static constexpr ResidentLayout<> layout{L::width, L::count, L::planes, rows, stages, warps};
};

// Units of work of a layer, which warps take by turns: pairs of tiles of 8 columns. Narrow layers share bands of 16 rows
// among the warps, too.
template <class Block, int l> struct WarpShares {
    using L = typename Block::L;
    static constexpr int all_bands = Block::rows / 16, warps = Block::warps,
                         pairs = (L::width[l + 1] + 15) / 16;
    static constexpr int bands = 2 * pairs <= warps ? 1 : all_bands;
    static constexpr int together = pairs > resident_warps&& pairs % 2 == 0
                                        ? pairs_together(L::planes)
                                        : 1;
    static constexpr int across = pairs / together, units = across * (all_bands / bands);
    static NACELLE_INLINE int pair(int unit) { return unit % across * together; }
    static NACELLE_INLINE int band(int unit) { return unit / across * bands; }
};

template <class Block> class WeightStream {
    using L = typename Block::L;
    static constexpr int stages = Block::stages;
    static constexpr ResidentLayout<> all = Block::layout;

public:
    NACELLE_INLINE WeightStream(const float* prepared, uint32_t* memory)
        : from_(reinterpret_cast<const uint16_t*>(prepared)),
          ring_(memory + all.ring + int(threadIdx.x) / 32 * stages * all.stage) {}
    // The first stages are on their way then.
    NACELLE_INLINE void begin() {
        unit_ = slice_ = taken_ = brought_ = 0;
        layer_ = L::count - 1;
        next_layer();
        NACELLE_UNROLL for (int i = 0; i + 1 < stages; ++i) bring<0>();
    }
    // From now on another network's weights; what was on its way of the last one's is let go.
    NACELLE_INLINE void begin_with(const float* prepared) {
        await_groups<0>();
        __syncwarp();
        from_ = reinterpret_cast<const uint16_t*>(prepared);
        begin();
    }
    // The stage that the whole warp works on next. The one before it makes room for another.
    NACELLE_INLINE const uint32_t* next() {
        await_groups<(stages > 2 ? stages - 2 : 0)>();
        __syncwarp();
        const uint32_t* const stage = ring_ + taken_ * all.stage;
        taken_ = taken_ + 1 == stages ? 0 : taken_ + 1;
        bring<0>();
        return stage;
    }
    // Where this lane reads 16 weights of a pair's columns, from number 16 k of a stage on.
    static NACELLE_INLINE const uint32_t* chunk(const uint32_t* pair, int k) {
        const uint32_t lane = uint32_t(warp_lane());
        return pair + chunk_in_tile(lane % 8 + lane / 16 * 8, uint32_t(2 * k) + lane / 8 % 2) / 2;
    }

private:
    template <int l> static NACELLE_INLINE int units_of(int layer) {
        if constexpr (l + 1 < L::count)
            if (layer != l) return units_of<l + 1>(layer);
        return WarpShares<Block, l>::units;
    }
    // The next layer of which this warp has a share; after the last one the first one again.
    NACELLE_INLINE void next_layer() {
        unit_ = int(threadIdx.x) / 32;
        NACELLE_ROLLED for (int tries = 0; tries < L::count; ++tries) {
            layer_ = layer_ + 1 == L::count ? 0 : layer_ + 1;
            if (unit_ < units_of<0>(layer_)) return;
        }
        layer_ = -1;    // it has none
    }
    template <int l> NACELLE_INLINE void bring() {
        if constexpr (l + 1 < L::count)
            if (layer_ != l) return bring<l + 1>();
        using S = WarpShares<Block, l>;
        constexpr ResidentLayer<int> its = all.layer[l];
        constexpr uint32_t across = tiles_along(uint64_t(L::width[l]));
        constexpr uint64_t start = tiled_weights_before(L::matrix, l, L::planes),
                           plane = tiled_numbers(L::matrix[l]);
        if (layer_ != l) return close_group();
        uint32_t* const to = ring_ + brought_ * all.stage;
        NACELLE_UNROLL for (int i = 0; i < L::planes * S::together; ++i) {
            const uint32_t row = 16 * uint32_t(S::pair(unit_) + i % S::together);
            const uint16_t* const from =
                from_ + start + uint64_t(i / S::together) * plane +
                uint64_t(row / tile_side * across + uint32_t(slice_)) * tile_numbers +
                row % tile_side * tile_side;
            NACELLE_UNROLL for (int c = warp_lane(); c < 128; c += 32) {
                const int chunk = c % 8 ^ c / 8 % 8;    // of the row
                if (64 * slice_ + 8 * chunk < its.in)
                    bring_async(to + i * stage_words + 4 * c, from + 8 * c, true);
            }
        }
        close_group();
        brought_ = brought_ + 1 == stages ? 0 : brought_ + 1;
        if (++slice_ < int(across)) return;
        slice_ = 0;
        unit_ += Block::warps;
        if (unit_ >= S::units) next_layer();
    }

    const uint16_t* from_;
    uint32_t* ring_;
    int layer_ = 0, unit_ = 0, slice_ = 0;    // what is brought next
    int taken_ = 0, brought_ = 0;
};

}
