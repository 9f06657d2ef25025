#pragma once
#include <learn/layout/blocked.h>
#include <learn/layout/fused_layout.h>
// What a block has where a rollout of a network that remembers takes all steps in one launch: 32 rows, and what they
// remember, in shared memory. Its warps share the neurons of each layer, eight at a time; weights come from memory, each
// once a step. Host and device share this text.

namespace learn {

inline constexpr int remembering_rows = 32;
inline constexpr uint64_t most_remembering_bytes = 200 * 1024;

// As many warps as the widest hidden layer has eights of neurons, up to 16.
template <class Widths> constexpr uint32_t remembering_threads(const Widths& width, int layers) {
    uint32_t warps = 4;
    for (int l = 1; l < layers; ++l)
        while (warps < 16 && 8 * int64_t(warps) < width[l]) warps *= 2;
    return 32 * warps;
}

// In words, where a network's rows lie: two buffers, which layers read and write in turns as pairs; one more for what a
// gru remembers as pairs; what all rows remember; the outputs. Rows lie such that lanes meet different banks.
struct MemoryStage {
    int pitch = 0, memory_pitch = 0, out_pitch = 0;
    int own = 0, memory = 0, out = 0, words = 0;

    template <class Widths, class Cells>
    constexpr MemoryStage(const Widths& width, const Cells& cell, int layers, int planes) {
        int blocks = 0, own_blocks = 0;    // of 32 numbers
        for (int l = 0; l < layers; ++l) {
            const int its = int(tiles_of<int64_t>(width[l], 32));
            blocks = its > blocks ? its : blocks;
            if (l > 0 && cell[l - 1] == Cell::gru) own_blocks = its > own_blocks ? its : own_blocks;
        }
        // An odd number of 16 words: two rows of four chunks then lie on all banks.
        pitch = 16 * (blocks * planes | 1);
        memory_pitch = (room_before(width, cell, layers) + 31) / 32 * 32 + 4;
        out_pitch = 8 * int(tiles_of<int64_t>(width[layers], 8)) + 1;
        own = 2 * remembering_rows * pitch;
        memory = own + (own_blocks ? remembering_rows * pitch : 0);
        out = memory + remembering_rows * memory_pitch;
        words = (out + remembering_rows * out_pitch + 3) / 4 * 4;
    }
    // Numbers before those of layer l, in eights.
    template <class Widths, class Cells>
    static constexpr int room_before(const Widths& width, const Cells& cell, int l) {
        int room = 0;
        for (int i = 0; i < l; ++i)
            room += remembers(cell[i]) ? 8 * int(tiles_of<int64_t>(width[i + 1], 8)) : 0;
        return room;
    }
};

}
