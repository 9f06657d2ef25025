#pragma once
#include <learn/fused_layout.h>
// Networks whose weights a block of threads keeps in shared memory, while its rows go through all layers step after
// step: where everything lies there, in words. Host and device share this text.

namespace learn {

inline constexpr int resident_rows = 32, resident_warps = 8, resident_threads = 32 * resident_warps;

template <class Number> struct ResidentLayer {
    Number in, out;    // in whole tiles of 16
    // Rows of its weights, and of what goes into it, plane beside plane: both an odd number of 16 bytes apart, so that
    // tensor cores read eight of them from all banks.
    Number pitch, seen_pitch;
    Number plane, weights, bias;    // words of a plane of weights; where they and the biases begin
    Number seen;                    // where its inputs begin
};

template <class Number = int> struct ResidentLayout {
    ResidentLayer<Number> layer[most_layers] = {};
    Number outputs = 0, output_pitch = 0;    // floats
    Number words = 0;

    template <class Widths> constexpr ResidentLayout(const Widths& width, int count, int planes) {
        for (int l = 0; l < count; ++l) {
            ResidentLayer<Number>& at = layer[l];
            at.in = 16 * tiles_of<Number>(width[l], 16);
            at.out = 16 * tiles_of<Number>(width[l + 1], 16);
            at.pitch = at.in / 2 + 4;
            at.seen_pitch = at.in / 2 * planes + 4;
            at.plane = at.out * at.pitch;
            at.weights = words;
            at.bias = at.weights + planes * at.plane;
            words = at.bias + at.out;
        }
        // Two places that the levels behind the first one take by turns.
        Number room[2] = {0, 0};
        for (int l = 1; l < count; ++l) {
            const Number wanted = resident_rows * layer[l].seen_pitch;
            room[l % 2] = wanted > room[l % 2] ? wanted : room[l % 2];
        }
        layer[0].seen = words;
        words += resident_rows * layer[0].seen_pitch;
        for (int l = 1; l < count; ++l) layer[l].seen = words + (l % 2 ? 0 : room[1]);
        words += room[0] + room[1];
        outputs = words;
        output_pitch = layer[count - 1].out + 1;
        words += resident_rows * output_pitch;
    }
};

}
