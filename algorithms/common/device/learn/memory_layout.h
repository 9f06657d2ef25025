#pragma once
#include <learn/blocked.h>
#include <learn/fused_layout.h>
// What a block has in shared memory where a rollout of a network that remembers takes all steps in one launch: the
// networks' weights as they are prepared, then the rows of its warps. Host and device share this text.

namespace learn {

inline constexpr uint64_t most_resident_bytes = 200 * 1024;

// In words, the 16 rows that a warp takes through one network: what goes into a layer as pairs, what the rows remember,
// and the outputs. Each layer's memory takes whole tiles of 16 numbers; rows lie such that lanes meet different banks.
struct MemoryStage {
    int in_pitch = 0, memory_pitch = 0, out_pitch = 0, memory = 0, out = 0, words = 0;

    template <class Widths, class Cells>
    constexpr MemoryStage(const Widths& width, const Cells& cell, int layers, int planes) {
        int widest = 0, remembered = 0;
        for (int l = 0; l < layers; ++l) {
            const int tiles = int(tiles_of<int64_t>(width[l], 16));
            widest = tiles > widest ? tiles : widest;
            remembered = memory_room_before(width, cell, l + 1);
        }
        in_pitch = 8 * widest * planes + 4;
        memory_pitch = (remembered + 31) / 32 * 32 + 8;
        out_pitch = 16 * int(tiles_of<int64_t>(width[layers], 16)) + 1;
        memory = warp_rows * in_pitch;
        out = memory + warp_rows * memory_pitch;
        words = out + warp_rows * out_pitch;
    }
    // Where layer l's begins.
    template <class Widths, class Cells>
    static constexpr int memory_room_before(const Widths& width, const Cells& cell, int l) {
        int room = 0;
        for (int i = 0; i < l; ++i)
            room += remembers(cell[i]) ? 16 * int(tiles_of<int64_t>(width[i + 1], 16)) : 0;
        return room;
    }
};

// Of one network.
template <class Widths, class Cells, class Matrices>
constexpr uint64_t resident_words(const Widths& width, const Cells& cell, int layers,
                                  const Matrices& matrix, int matrices, int planes) {
    return tiled_words(matrix, matrices, planes) +
           uint64_t(rollout_threads / 32) *
               uint64_t(MemoryStage(width, cell, layers, planes).words);
}

}
