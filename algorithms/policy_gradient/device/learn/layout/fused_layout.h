#pragma once
#include <nacelle/platform.h>
// How networks whose layers one kernel computes are cut into tiles, where these lie in memory, and what a block of an
// update has in registers and shared memory. Host and device share this text.

namespace learn {

inline constexpr int warp_rows = 16;    // that a warp takes through the layers
// Of a rollout's few environments every warp has half as many, so that each scheduler of a GPU has a warp.
inline constexpr int half_rows = warp_rows / 2;
inline constexpr int rollout_threads = 64;    // two warps: few environments reach many processors
inline constexpr int most_layers = 17;

// Beyond so many tiles all of a network unrolled takes seconds to compile: then the layers' outputs go
// through shared memory, and their tiles are counted at run time. With several planes there are not enough registers.
inline constexpr int most_unrolled = 100;
inline constexpr int most_in_registers = 48;    // tiles of weights that a warp keeps for all steps
// Of a warp with two bands of samples, and of its block: two of them fit into a multiprocessor. Three do where a warp
// keeps no more than so many, beside 80 for what it does.
inline constexpr int most_pair_registers = 140, most_pair_bytes = 113 * 1024,
                     most_triple_registers = 88;
inline constexpr int plane_words = 64;    // of a tile of weights

// Of a wider first layer, in one plane, what goes in is read 64 numbers at a time where it is kept, and never lies in
// registers as a whole. Each tile of its weights' gradient has sums of its own, so that there are more of them.
inline constexpr int most_whole_inputs = 128, chunk_inputs = 64, chunk_pitch = chunk_inputs / 2 + 4;
inline constexpr int most_update_bytes = 227 * 1024, most_units = 14, most_units_in_chunks = 20;
// Two numbers of a chunk that lie half of it apart are neighbours in a tile: a warp reads a row's numbers side by side,
// and a lane makes a pair of two of its own.
constexpr int place_in_chunks(int column) {
    constexpr int half = chunk_inputs / 2;
    return column / chunk_inputs * chunk_inputs + column % half * 2 + column % chunk_inputs / half;
}
constexpr int column_in_chunks(int place) {
    constexpr int half = chunk_inputs / 2;
    return place / chunk_inputs * chunk_inputs + place % chunk_inputs / 2 + place % 2 * half;
}

// Of rollouts of teams, whose threads have 128 registers for the networks of all policies and the author's functions.
inline constexpr int most_in_team_registers = 20, most_team_threads = 512;
// Bands of 16 rows that a warp takes at once, of the agents of a team that has so many threads: of all its teams.
constexpr int bands_of_team(int threads, int agents) {
    return (threads < 32 ? 32 / threads : 1) * agents <= warp_rows ? 1 : 2;
}

template <class Number> constexpr Number tiles_of(Number width, int size) {
    return (width + size - 1) / size;
}

// Layer l, and level l, what goes into it. Behind the last layer there is a level more, the outputs.
template <class Number> struct FusedLayer {
    Number in_tiles, out_tiles;    // of the weights: inputs by 16, outputs by 8
    Number weights, turned;    // tiles before it: of weights, and of those turned for the way back
    Number bias, inputs;       // before it: biases, and tiles of levels
    Number pitch, seen,
        slopes;    // in an update's memory: words of a row, where the level and its slopes begin
    Number across, units,
        first_unit;    // sums of the weights' gradients that a warp keeps, each a pair of tiles
    Number bias_units,
        first_bias_unit;    // of 16 by 8; and of the slopes, for the biases, each of 16 outputs
};

// Numbers have 64 bits on the host, which asks about networks of any width.
template <class Number = int> struct FusedLayout {
    FusedLayer<Number> layer[most_layers + 1] = {};
    Number weight_tiles = 0, turned_tiles = 0, biases = 0, input_tiles = 0;
    Number units = 0, bias_units = 0;
    // Prepared weights in words: tiles, lane by lane two words a plane; those turned; biases.
    Number tile_words = 0, turned_start = 0, bias_start = 0, prepared = 0;
    // Where a warp's rows meet outside of an update: what goes into a layer, as pairs, then outputs.
    Number outputs = 0, in_pitch = 0, out_pitch = 0;
    bool rolled = false, in_registers = false, in_chunks = false;
    // An update's block: more warps for wider networks, whose weights' sums would not fit into the registers of four.
    // A warp takes two bands of 16 samples at once where what both leave behind fits into its registers, and two such
    // blocks into shared memory: they share what is read of the weights.
    Number warps = 0, threads = 0, bands = 1, warp_samples = 0, samples = 0;
    Number registers = 0;    // of what a warp keeps with two bands
    Number weights_start = 0, out_start = 0, words = 0;
    // Words of an update's memory before the weights, and of prepared weights those that are read where they are.
    Number row_words = 0, words_outside = 0;

    template <class Widths>
    constexpr FusedLayout(const Widths& width, int count, int planes, bool keeps_input) {
        Number widest = 0, widest_tiles = 0;
        in_chunks = planes == 1 && count > 1 && width[0] > most_whole_inputs &&
                    tiles_behind_first(width, count) <= most_unrolled;
        for (int l = 0; l <= count; ++l) {
            layer[l].in_tiles = tiles_of<Number>(width[l], 16);
            if (l == 0 && in_chunks)
                layer[l].in_tiles = chunk_inputs / 16 * tiles_of<Number>(width[0], chunk_inputs);
            layer[l].pitch = 8 * layer[l].in_tiles * planes + 4;
        }
        for (int l = 0; l < count; ++l) {
            FusedLayer<Number>& at = layer[l];
            const Number next = layer[l + 1].in_tiles;
            at.out_tiles = l + 1 < count ? 2 * next : tiles_of<Number>(width[count], 8);
            at.weights = weight_tiles;
            at.turned = turned_tiles;
            at.bias = biases;
            at.inputs = input_tiles;
            weight_tiles += at.in_tiles * at.out_tiles;
            turned_tiles += l == 0 ? 0 : next * 2 * at.in_tiles;
            biases += 8 * at.out_tiles;
            input_tiles += l == 0 && in_chunks ? 0 : at.in_tiles;
            widest = width[l] > widest ? width[l] : widest;
            widest_tiles = at.in_tiles > widest_tiles ? at.in_tiles : widest_tiles;
        }
        tile_words = plane_words * planes;
        turned_start = weight_tiles * tile_words;
        bias_start = turned_start + turned_tiles * tile_words;
        prepared = bias_start + biases;
        rolled = planes > 1 || (!in_chunks && weight_tiles > most_unrolled);
        in_registers = !rolled && !in_chunks && weight_tiles <= most_in_registers;
        outputs = 8 * layer[count - 1].out_tiles;
        in_pitch =
            in_chunks ? chunk_pitch : 8 * (rolled ? widest_tiles : layer[0].in_tiles) * planes + 4;
        out_pitch = outputs + 1;
        warps = widest > 64 ? 8 : 4;
        threads = 32 * warps;
        share_sums(count);
        registers = 8 * input_tiles * (keeps_input ? 2 : 1) + 8 * units + 4 * bias_units;
        place_rows(count, 128);
        if (warps > 4 || planes > 1 || registers > most_pair_registers ||
            4 * words > most_pair_bytes)
            place_rows(count, warp_rows * warps);
    }

private:
    template <class Widths>
    static constexpr Number tiles_behind_first(const Widths& width, int count) {
        Number tiles = 0;
        for (int l = 1; l < count; ++l)
            tiles += tiles_of<Number>(width[l], 16) * (l + 1 < count
                                                           ? 2 * tiles_of<Number>(width[l + 1], 16)
                                                           : tiles_of<Number>(width[count], 8));
        return tiles;
    }
    constexpr void share_sums(int count) {
        for (int l = 0; l < count; ++l) {
            FusedLayer<Number>& at = layer[l];
            at.across = (at.out_tiles + 1) / 2;
            at.units = l == 0 && in_chunks ? tiles_of<Number>(at.in_tiles, int(warps)) * at.across
                                           : tiles_of<Number>(at.in_tiles * at.across, int(warps));
            at.first_unit = units;
            at.bias_units = tiles_of<Number>(at.across, int(warps));
            at.first_bias_unit = bias_units;
            units += at.units;
            bias_units += at.bias_units;
        }
    }
    // An update's memory: the levels, the slopes along them, the weights, the outputs.
    constexpr void place_rows(int count, Number all) {
        samples = all;
        warp_samples = samples / warps;
        bands = warp_samples / warp_rows;
        Number at = 0;
        for (int l = 0; l < count; ++l) {
            layer[l].seen = at;
            at += layer[l].pitch * samples;
        }
        for (int l = 1; l <= count; ++l) {
            layer[l].slopes = at;
            at += layer[l].pitch * samples;
        }
        row_words = at;
        words_outside = 0;
        end_rows();
        if (in_chunks && 4 * words > most_update_bytes) {
            words_outside = layer[1].weights * tile_words;
            end_rows();
        }
    }
    constexpr void end_rows() {
        weights_start = row_words - words_outside;
        out_start = weights_start + prepared;
        words = (out_start + out_pitch * samples + 3) / 4 * 4;
    }
};

// Of a block whose warps take rows through the layers, outside of an update.
inline constexpr int most_stage_bytes = 48 * 1024;
// What a warp has there for rows of many numbers: slots of chunks, outputs, and where it adds up what it sees the sums, each
// of so many bytes. Of pairs several chunks are on their way, and sums are smaller.
template <class Number>
constexpr Number wide_bytes(const FusedLayout<Number>& layout, int slots, int sum_bytes) {
    return 4 * warp_rows * (slots * chunk_pitch + layout.out_pitch) +
           2 * 16 * layout.layer[0].in_tiles * sum_bytes;
}
inline constexpr int wide_warps = 4, few_wide_slots = 2, many_wide_slots = 3;
template <class Number> constexpr int wide_slots_of(const FusedLayout<Number>& layout) {
    return wide_warps * wide_bytes(layout, many_wide_slots, 4) <= most_stage_bytes ? many_wide_slots
                                                                                   : few_wide_slots;
}

}
