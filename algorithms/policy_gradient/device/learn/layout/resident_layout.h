#pragma once
#include <learn/layout/fused_layout.h>
// Networks whose weights a block of threads keeps in shared memory, while its rows go through all layers again and
// again: where everything lies there, in words. Where weights are too many, each warp brings those of the columns that it
// computes next through a ring of its own. Host and device share this text.

namespace learn {

inline constexpr int resident_warps = 8, resident_threads = 32 * resident_warps;
// Environments of a block that takes them through all steps; and blocks that take all rows of a step: one for each
// multiprocessor of an H100 or H200, whose shared memory a block may have.
inline constexpr int resident_envs = 32, resident_blocks = 132, most_resident_bytes = 227 * 1024;
inline constexpr int emulated_blocks = 2;    // so that tests have blocks that take rows by turns

// A warp computes so many pairs of tiles of 8 columns at once: what it reads of the rows serves all of them. A stage of
// its ring has 64 weights for each of their columns.
constexpr int pairs_together(int planes) { return planes == 1 ? 2 : 1; }
inline constexpr int stage_words = 16 * 32;

template <class Number> struct ResidentLayer {
    Number in, out;    // in whole tiles of 16; the outputs in tiles of 8
    // Rows of its weights, and of what goes into it, plane beside plane: both an odd number of 16 bytes apart, so that
    // tensor cores read eight of them from all banks.
    Number pitch, seen_pitch;
    Number plane, weights, bias;    // words of a plane of weights; where they and the biases begin
    Number seen;                    // where its inputs begin
};

template <class Number = int> struct ResidentLayout {
    ResidentLayer<Number> layer[most_layers] = {};
    Number outputs = 0, output_pitch = 0;    // floats
    Number ring = 0, stage = 0;              // of weights: where they begin, words of a stage
    Number words = 0;

    // No stages: the weights stay.
    template <class Widths>
    constexpr ResidentLayout(const Widths& width, int count, int planes, int rows, int stages,
                             int warps = resident_warps) {
        for (int l = 0; l < count; ++l) {
            ResidentLayer<Number>& at = layer[l];
            const int tile = l + 1 < count ? 16 : 8;
            at.in = 16 * tiles_of<Number>(width[l], 16);
            at.out = tile * tiles_of<Number>(width[l + 1], tile);
            at.pitch = at.in / 2 + 4;
            at.seen_pitch = at.in / 2 * planes + 4;
            at.plane = stages > 0 ? 0 : at.out * at.pitch;
            at.weights = words;
            at.bias = at.weights + planes * at.plane;
            words = at.bias + (at.out + 3) / 4 * 4;
        }
        ring = words;
        stage = planes * pairs_together(planes) * stage_words;
        words += warps * stages * stage;
        // Two places that the levels take by turns. Outputs are not where inputs are: while some are read the next ones
        // may be written.
        output_pitch = layer[count - 1].out + 1;
        const Number output_words = rows * output_pitch;
        Number room[2] = {0, count % 2 ? output_words : 0};
        for (int l = 0; l < count; ++l) {
            const Number wanted = rows * layer[l].seen_pitch;
            room[l % 2] = wanted > room[l % 2] ? wanted : room[l % 2];
        }
        room[1] = (room[1] + 3) / 4 * 4;
        for (int l = 0; l < count; ++l) layer[l].seen = words + (l % 2 ? 0 : room[1]);
        outputs = count % 2 ? words : words + room[0] + room[1];
        words += room[0] + room[1] + (count % 2 ? 0 : output_words);
        words = (words + 3) / 4 * 4;
    }
};

// Rows that go through at once where there are many: as many bands of 16 as there is room for, up to three.
template <class Number, class Widths>
constexpr int resident_rows_for(const Widths& width, int count, int planes) {
    for (int rows = 48; rows > 16; rows -= 16)
        if (4 * ResidentLayout<Number>(width, count, planes, rows, 0).words <= most_resident_bytes)
            return rows;
    return 16;
}
// The rows of a policy's agents that a block of teams has, and stages of its warps' rings.
inline constexpr int most_resident_team_rows = 64, team_stages = 3;
constexpr int resident_team_rows(int teams, int agents) { return (teams * agents + 15) / 16 * 16; }
// Stages of a warp's ring for so many rows, or none where the weights have room.
template <class Number, class Widths>
constexpr int resident_stages_for(const Widths& width, int count, int planes, int rows) {
    for (const int stages : {0, 4, 3})
        if (4 * ResidentLayout<Number>(width, count, planes, rows, stages).words <=
            most_resident_bytes)
            return stages;
    return 2;
}

}
