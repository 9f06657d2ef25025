#pragma once
#include <learn/gpu/tile/hopper_levels.h>
#include <learn/layout/row_pass.h>
// What a row pass reads of its weights, in the order in which it does, through slots of shared memory. On Hopper two
// blocks of a cluster have the same in their slots: a thread of each brings one half to both, and the eight warps of
// either give slots back. In an emulation all threads bring each when it is asked for.

namespace learn {

inline constexpr int pass_warps = 8;

// What comes into a slot: copies of so many bytes each, one behind the other there, `apart` numbers in memory.
struct RingUnit {
    const uint16_t* from;
    uint32_t copies, apart, bytes;
};
// Rows that a product reads of a tile of the last layer, which has fewer outputs.
constexpr uint32_t rows_read(uint32_t rows, uint32_t together) {
    return rows < tile_side ? (rows + together - 1) / together * together : tile_side;
}
// All outputs' weights of 64 inputs, from tile `k` on, and all inputs' weights of 64 outputs.
NACELLE_INLINE RingUnit forward_unit(const RowPassLayer& layer, uint32_t k, int plane) {
    const uint32_t across = tiles_along(layer.in), down = tiles_along(layer.out);
    return {layer.weights + size_t(plane) * layer.weights_plane + size_t(k) * tile_numbers, down,
            across * tile_numbers, (layer.seen ? tile_side : rows_read(layer.out, 8)) * 128};
}
NACELLE_INLINE RingUnit backward_unit(const RowPassLayer& layer, uint32_t k, int plane) {
    const uint32_t across = tiles_along(layer.in),
                   read = layer.seen ? tile_side : rows_read(layer.read, 16);
    const uint16_t* const from =
        layer.weights + size_t(plane) * layer.weights_plane + size_t(k) * across * tile_numbers;
    if (read == tile_side) return {from, 1, 0, across * tile_numbers * 2};
    return {from, across, tile_numbers, read * 128};
}

template <uint32_t slots, uint32_t slot_bytes> class RowRing {
public:
    static constexpr uint32_t barrier_bytes = 16 * slots;

    NACELLE_INLINE RowRing(unsigned char* barriers, unsigned char* memory)
        : barriers_(barriers), memory_(memory) {}

#if LEARN_WGMMA
    // One thread, before all others come together.
    NACELLE_INLINE void begin() const {
        for (uint32_t s = 0; s < slots; ++s) {
            barrier_begin(full(s), 1);
            barrier_begin(empty(s), 2 * pass_warps);
        }
    }
    // The thread that brings: what the next slot gets, or that it comes empty. Every other copy is this block's, or one
    // half of the only one.
    NACELLE_INLINE void put(const RingUnit& unit, uint32_t rank) {
        if (round_ > 0) barrier_wait(empty(slot_), (round_ - 1) & 1);
        const uint32_t barrier = full(slot_), to = shared_address(memory_ + slot_ * slot_bytes);
        if (unit.copies == 0) barrier_arrive(barrier);
        else {
            barrier_expect(barrier, unit.copies * unit.bytes);
            if (unit.copies == 1) {
                const uint32_t half = unit.bytes / 2;
                bring_tile_to_both(to + rank * half, unit.from + rank * half / 2, half, barrier);
            } else
                NACELLE_ROLLED for (uint32_t i = rank; i < unit.copies; i += 2)
                    bring_tile_to_both(to + i * (tile_numbers * 2),
                                       unit.from + size_t(i) * unit.apart, unit.bytes, barrier);
        }
        advance();
    }
    // The warps that use it. Slots are given back in order.
    NACELLE_INLINE unsigned char* take(const RingUnit&) {
        barrier_wait(full(slot_), round_ & 1);
        unsigned char* const at = memory_ + slot_ * slot_bytes;
        advance();
        ++held_;
        return at;
    }
    NACELLE_INLINE void give_back_but(uint32_t few) {
        __syncwarp();
        while (held_ > few) {
            const uint32_t s = slot_ >= held_ ? slot_ - held_ : slot_ + slots - held_;
            if (threadIdx.x % 32 < 2) barrier_arrive_in(empty(s), threadIdx.x % 32);
            --held_;
        }
    }
#else
    NACELLE_INLINE unsigned char* take(const RingUnit& unit) {
        __syncthreads();
        unsigned char* const at = memory_ + slot_ * slot_bytes;
        for (uint32_t i = threadIdx.x; i < unit.copies * unit.bytes / 16; i += 32 * pass_warps) {
            const uint32_t copy = i / (unit.bytes / 16), chunk = i % (unit.bytes / 16);
            bring_async(at + copy * (tile_numbers * 2) + 16 * chunk,
                        unit.from + size_t(copy) * unit.apart + chunk * chunk_numbers, true);
        }
        __syncthreads();
        advance();
        return at;
    }
    NACELLE_INLINE void give_back_but(uint32_t) {}
#endif

private:
    NACELLE_INLINE void advance() {
        if (++slot_ < slots) return;
        slot_ = 0;
        ++round_;
    }
#if LEARN_WGMMA
    NACELLE_INLINE uint32_t full(uint32_t s) const { return shared_address(barriers_) + 16 * s; }
    NACELLE_INLINE uint32_t empty(uint32_t s) const { return full(s) + 8; }
#endif

    unsigned char *barriers_, *memory_;
    uint32_t slot_ = 0, round_ = 0, held_ = 0;
};

// The product of a warpgroup's 64 rows and 64 n columns of a slot, 16 steps of the sum from step `at` on.
template <int n, bool turned>
NACELLE_INLINE void multiply_slot(float (&c)[8 * n][4], const unsigned char* a,
                                  const unsigned char* b, uint32_t at) {
#if LEARN_WGMMA
    multiply_tiles<false, turned>(c, factor_at(shared_address(a) + at * 32),
                                  factor_at(shared_address(b) + at * (turned ? 2048 : 32)));
#else
    const uint32_t lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16, k = 16 * at;
    uint32_t left[4], right[4];
    load_tiles<false>(left,
                      a + 2 * chunk_in_tile(row + lane % 16, (k + lane / 16 * 8) / chunk_numbers));
    NACELLE_ROLLED for (uint32_t j = 0; j < 8 * n; j += 2) {
        const unsigned char* const tile = b + j / 8 * (tile_numbers * 2);
        if constexpr (turned)
            load_tiles<true>(right, tile + 2 * chunk_in_tile(k + lane % 16, j % 8 + lane / 16));
        else
            load_tiles<false>(right,
                              tile + 2 * chunk_in_tile(8 * (j % 8) + lane % 8 + lane / 16 * 8,
                                                       2 * at + lane / 8 % 2));
        multiply(c[j], left, right[0], right[1]);
        multiply(c[j + 1], left, right[2], right[3]);
    }
#endif
}

}
