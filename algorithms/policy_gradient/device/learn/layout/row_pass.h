#pragma once
#include <learn/layout/blocked.h>
// One kernel that takes rows through all layers of a network and back: how its blocks use shared memory, and what it is
// told. Host and device share this text.
//
// A block has 128 rows of bfloat16, or 64 of several planes, and two buffers for levels in turns. What a layer's product
// reads of the weights comes through a ring of slots, a slot for all columns of 64 steps of the sum in one plane.

namespace learn {

// Outputs have one tile, and the levels before them so many columns at most.
inline constexpr uint32_t row_pass_columns = 256, row_pass_outputs = tile_side;
// As many as fit into a kernel's arguments, which are 4,096 bytes before CUDA 12.1.
inline constexpr int most_pass_layers = 11;
// Two warpgroups compute; the third one has a thread that brings weights, and leaves them its registers.
inline constexpr uint32_t pass_threads = 384;
// Of the 227 KB that a block can have the kernel takes some for itself.
inline constexpr uint32_t row_pass_bytes = 226 * 1024, row_pass_head_bytes = 1024, most_slots = 4;

struct RowPassLayout {
    uint32_t rows, widest;    // of a block; tiles across its widest level
    uint32_t plane_bytes, buffer_bytes;
    // What lies in a slot between the ways forward and back: outputs as floats, and their slopes as tiles behind them.
    uint32_t out_pitch, slopes_at;
    uint32_t slot_bytes, slots;

    template <class Widths>
    constexpr RowPassLayout(const Widths& width, int layers, int planes)
        : rows(planes == 1 ? 128 : 64), widest(1) {
        for (int l = 0; l < layers; ++l)
            if (tiles_along(uint64_t(width[l])) > widest) widest = tiles_along(uint64_t(width[l]));
        const uint32_t tile_bytes = tile_numbers * 2, down = rows / tile_side;
        plane_bytes = down * widest * tile_bytes;
        buffer_bytes = uint32_t(planes) * plane_bytes;
        out_pitch = uint32_t(width[layers]) | 1;    // rows begin in banks of their own
        slopes_at = (rows * out_pitch * 4 + 1023) / 1024 * 1024;
        const uint32_t between = slopes_at + uint32_t(planes) * down * tile_bytes;
        const uint32_t read = widest == 3 ? 4 : widest;    // three tiles are computed as four
        slot_bytes = read * tile_bytes > between ? read * tile_bytes : between;
        const uint32_t taken = 1024 + row_pass_head_bytes + 2 * buffer_bytes;
        slots = taken < row_pass_bytes ? (row_pass_bytes - taken) / slot_bytes : 0;
        if (slots > most_slots) slots = most_slots;
    }
    constexpr uint32_t bytes() const {
        return 1024 + row_pass_head_bytes + 2 * buffer_bytes + slots * slot_bytes;
    }
};
// Whether a network goes through: while outputs lie in a slot, the first step back needs one for each plane.
template <class Widths> constexpr bool row_pass_fits(const Widths& width, int layers, int planes) {
    if (layers < 2 || layers > most_pass_layers || uint64_t(width[layers]) > row_pass_outputs)
        return false;
    for (int l = 0; l < layers; ++l)
        if (uint64_t(width[l]) > row_pass_columns) return false;
    return RowPassLayout(width, layers, planes).slots > uint32_t(planes);
}

// A layer: its weights, and where the level behind it goes, which the gradient of the next layer's weights reads. The
// last one's goes nowhere.
struct RowPassLayer {
    const uint16_t* weights;
    uint64_t weights_plane;
    const float* bias;
    uint16_t *seen, *straight,
        *slopes;    // `straight` went into the activation, where slopes need it
    uint64_t level_plane;
    uint32_t in, out;
    uint32_t
        read;    // outputs that the way back reads: of both networks as many as the first one has
};

// Behind few numbers and before few outputs a row pass makes the gradient of its first and last layers, too, in one plane:
// a slot for each group of 64 rows of a block.
inline constexpr uint32_t most_few_outputs = 8, row_pass_groups = 2;
constexpr bool row_pass_sums_ends(uint64_t inputs, uint64_t outputs, int planes) {
    return planes == 1 && inputs <= most_few_inputs && outputs <= most_few_outputs;
}
struct RowPassEnd {
    float* gradient;
    uint32_t slot_floats, pitch;
};

}
