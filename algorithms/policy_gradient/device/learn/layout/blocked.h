#pragma once
#include <learn/formulas/cells.h>
// Networks whose layers are matrix products of their own, through memory: how their matrices lie there, and what
// a product is told. Host and device share this text.
//
// A matrix of 16-bit numbers is cut into tiles of 64 by 64, 8 KB each, one behind the other, row of tiles by row of
// tiles. A row of a tile has 128 bytes, whose eight chunks of 16 bytes lie in an order that differs from row to row:
// tensor cores then read a tile along its rows or along its columns from all banks of shared memory, and a tile
// comes there by one copy. What lies behind a matrix's last row or column is zero.

namespace learn {

inline constexpr uint32_t tile_side = 64, tile_numbers = tile_side * tile_side, chunk_numbers = 8;
// A thread block computes so many rows of a product, 64 or 128 columns of it at a time.
inline constexpr uint32_t product_rows = 128, product_threads = 288;

// Parts of a size that hold so many.
template <class Count, class Size> constexpr auto divided_up(Count count, Size size) {
    return (count + size - 1) / size;
}
constexpr uint32_t tiles_along(uint64_t count) { return uint32_t(divided_up(count, tile_side)); }
constexpr uint32_t chunks_along(uint64_t count) {
    return uint32_t(divided_up(count, chunk_numbers));
}
// Blocks one below the other, and the rows that they have: those behind a matrix's last one, too.
constexpr uint32_t blocks_down(uint64_t rows) { return uint32_t(divided_up(rows, product_rows)); }
constexpr uint64_t whole_blocks(uint64_t rows) {
    return uint64_t(blocks_down(rows)) * product_rows;
}
// Floats that are read four at a time.
constexpr uint32_t in_fours(uint64_t count) { return uint32_t((count + 3) / 4 * 4); }
// Where the prepared weights of a policy's second network begin behind so many words of the first one.
constexpr uint64_t second_network_at(uint64_t words) { return (words + 63) / 64 * 64; }
// Rows are put into tiles two numbers at a time, and by chunks where they lie in pairs: an even number of these, so that
// memory is written in whole sectors.
constexpr uint32_t numbers_of_piece(bool pairs) { return pairs ? chunk_numbers : 2; }
constexpr uint64_t numbers_put(uint64_t width, bool pairs) {
    const uint64_t chunks = chunks_along(width);
    return (pairs ? chunks + chunks % 2 : chunks) * chunk_numbers;
}
// Lanes that share a row of so many numbers.
constexpr uint32_t gather_lanes(uint64_t width, bool pairs) {
    const uint64_t pieces = numbers_put(width, pairs) / numbers_of_piece(pairs);
    if (pairs) return uint32_t(pieces < 32 ? pieces : 32);
    uint32_t lanes = 4;
    while (lanes < 32 && 2 * lanes < width) lanes *= 2;
    return lanes;
}
// Of a minibatch's rows such lanes have so many at once where there is much to be read, so that it is on its way together.
constexpr uint32_t gather_rows(uint64_t width, bool pairs) {
    return pairs || gather_lanes(width, pairs) == 32 ? 4 : 1;
}
// Where a chunk of a tile lies in it, in numbers.
constexpr uint32_t chunk_in_tile(uint32_t row, uint32_t chunk) {
    return row * tile_side + ((chunk ^ (row & 7)) * chunk_numbers);
}
// Where an element of a matrix with so many tiles across lies.
constexpr uint64_t place_in_tiles(uint64_t row, uint32_t column, uint32_t across) {
    const uint64_t tile = row / tile_side * across + column / tile_side;
    return tile * tile_numbers +
           chunk_in_tile(uint32_t(row % tile_side), column % tile_side / chunk_numbers) +
           column % chunk_numbers;
}

// A network's prepared weights: its matrices [out][in], each plane by plane; behind them the biases, as floats.
constexpr uint64_t tiled_numbers(const MatrixSize& matrix) {
    return uint64_t(tiles_along(uint64_t(matrix.in))) * tiles_along(uint64_t(matrix.out)) *
           tile_numbers;
}
template <class Matrices>
constexpr uint64_t tiled_weights_before(const Matrices& matrix, int count, int planes) {
    uint64_t numbers = 0;
    for (int m = 0; m < count; ++m) numbers += uint64_t(planes) * tiled_numbers(matrix[m]);
    return numbers;
}
template <class Matrices>
constexpr uint64_t tiled_biases_before(const Matrices& matrix, int count) {
    uint64_t floats = 0;
    for (int m = 0; m < count; ++m)
        floats += uint64_t(tiles_along(uint64_t(matrix[m].out))) * tile_side;
    return floats;
}
template <class Matrices>
constexpr uint64_t tiled_words(const Matrices& matrix, int count, int planes) {
    return tiled_weights_before(matrix, count, planes) / 2 + tiled_biases_before(matrix, count);
}

// A block's stages in shared memory: the factors of 64 steps of its sum, two or three times, and barriers before them.
constexpr uint32_t product_head_bytes = 1024;
constexpr uint32_t product_stages(int planes, uint32_t columns) {
    return planes > 2 || (planes > 1 && columns < 128) ? 2 : 3;
}
// Blocks that a multiprocessor has at once: while one ends, another one sums.
constexpr uint32_t product_resident(int planes, uint32_t columns) {
    return planes == 1 || (planes == 2 && columns < 128) ? 2 : 1;
}

constexpr uint32_t product_stage_bytes(int planes, uint32_t columns) {
    return uint32_t(planes) * (product_rows + columns) * tile_side * 2;
}
constexpr uint32_t product_bytes(int planes, uint32_t columns) {
    return 1024 + product_head_bytes +
           product_stages(planes, columns) * product_stage_bytes(planes, columns);
}
// Products of weights have wide blocks always.
inline constexpr uint32_t weight_columns = 128;
// Wide blocks read less; with two planes narrow ones leave room for a second block.
constexpr uint32_t columns_for(uint64_t columns, int planes) {
    return columns > 64 && planes != 2 ? 128 : 64;
}
// On Hopper large products have clusters of two blocks, one below the other, that bring their second factor together, for
// twice the columns where registers have room for these sums. A block stays and takes one part after another; beside
// its stages there is room for results on their way to memory.
inline constexpr uint32_t cluster_blocks = 2, cluster_rows = cluster_blocks * product_rows,
                          cluster_stages_bytes = 192 * 1024, sender_bytes = 32 * 1024;
constexpr uint32_t cluster_threads(bool on_hopper) { return on_hopper ? 384 : product_threads; }
constexpr uint32_t cluster_columns(int planes) { return planes == 1 ? 256 : 128; }
constexpr uint32_t cluster_stages(int planes) {
    return cluster_stages_bytes / product_stage_bytes(planes, cluster_columns(planes));
}
inline constexpr uint32_t cluster_bytes =
    1024 + product_head_bytes + cluster_stages_bytes + sender_bytes;
// The tiles of a product's columns are shared out evenly among its parts. Of several planes a part has two at most, and
// where one of few has a single one, other blocks do better.
constexpr bool fits_clusters(uint64_t columns, int planes) {
    return columns >= cluster_columns(planes) &&
           (planes == 1 || columns % cluster_columns(planes) == 0 ||
            columns >= 4 * cluster_columns(planes));
}
constexpr uint64_t cluster_parts(uint64_t rows, uint64_t columns, int planes, uint32_t splits = 1) {
    const uint32_t across = cluster_columns(planes);
    return (rows + cluster_rows - 1) / cluster_rows * ((columns + across - 1) / across) * splits;
}
// Of a layer that sees so few numbers at most the gradient is made where its slopes are.
inline constexpr uint32_t most_few_inputs = 7;
// Slots of its sums for each cluster that has a stripe of its columns: each group of four warps has one.
inline constexpr uint32_t stripe_slots = cluster_rows / tile_side;
constexpr uint64_t product_blocks(uint64_t rows, uint64_t columns, uint32_t at_once,
                                  uint32_t splits = 1) {
    return uint64_t(blocks_down(rows)) * ((columns + at_once - 1) / at_once) * splits;
}

// A block of the last layer's kernel has some rows of what goes in, all columns of it, the weights and sums of its eight
// warps. It is for a wide layer and few outputs; a thread has pairs of columns, of several planes all threads as many.
inline constexpr uint32_t last_layer_rows = 16, last_layer_threads = 256, last_layer_outputs = 4;
constexpr bool fits_last_layer(uint64_t in, uint64_t out, int planes) {
    const bool wide = planes == 1 ? in > last_layer_threads : in % (2 * last_layer_threads) == 0;
    return wide && in * uint64_t(planes) <= 2048 && out <= last_layer_outputs;
}
constexpr uint32_t last_layer_bytes(uint64_t in, int planes) {
    return tiles_along(in) * tile_side * uint32_t(planes) * 2 * (last_layer_rows + 8) +
           last_layer_rows * (last_layer_threads / 32 * 8 + last_layer_outputs) * 4;
}
constexpr uint32_t last_layer_resident(uint64_t in, int planes) {
    return in * uint64_t(planes) <= 1024 ? 4 : 2;
}

// A gru whose matrix of what it remembers fits into a block's registers goes through all steps of its sequences in one
// launch, others have launches for each step. A block has 16 sequences and a warp for every 8 neurons: so many neurons
// at most, or 0 where the matrix does not fit.
inline constexpr uint32_t gru_sequences = 16, gru_chunk = 128, gru_stages = 4;
constexpr uint32_t gru_room(uint64_t neurons, int planes) {
    return neurons <= 64 ? 64 : neurons <= 128 && planes == 1 ? 128 : 0;
}
constexpr uint32_t gru_threads(uint32_t room) { return room / 8 * 32; }
// Its way forward finds the gates of what is seen, too, where that is narrow and numbers have one plane: they would take
// more memory than all that it reads.
inline constexpr uint32_t gru_most_inputs = 64;
constexpr bool gru_sees(uint64_t inputs, int planes) {
    return inputs <= gru_most_inputs && planes == 1;
}
// Its shared memory: where sequences began and forgot; two factors of a product; steps that are on their way.
inline constexpr uint32_t gru_head_bytes = gru_sequences * (16 + gru_chunk);
constexpr uint32_t gru_factor_bytes(int planes, uint32_t columns) {
    return uint32_t(planes) * gru_sequences * (columns + 8) * 2;
}
constexpr uint32_t gru_gates_pitch(uint32_t room) { return 3 * room + 8; }
// Vectors of 16 bytes that a lane keeps of a step.
constexpr uint32_t gru_kept_vectors(int planes) { return planes == 1 ? 2 : 4; }
constexpr uint32_t gru_kept_bytes(int planes, uint32_t room) {
    return gru_threads(room) * gru_kept_vectors(planes) * 16;
}
constexpr uint32_t gru_ahead_bytes(int planes, uint32_t room) {
    return gru_head_bytes + 2 * gru_factor_bytes(planes, room) +
           gru_stages * gru_sequences * gru_gates_pitch(room) * 4;
}
constexpr uint32_t gru_back_bytes(int planes, uint32_t room) {
    return gru_head_bytes + 2 * gru_factor_bytes(planes, 3 * room) +
           gru_stages * (gru_kept_bytes(planes, room) + 2 * gru_factor_bytes(planes, room));
}

struct TiledMatrix {
    uint16_t* at;
    uint64_t plane;     // numbers from one plane to the next
    uint32_t across;    // tiles of a row of tiles
};

// C[m][n] = the sum over k of A[m][k] B[n][k], either factor turned where the kernel says so.
struct Product {
    TiledMatrix a, b;
    uint32_t m, n, k;
    uint32_t first_block;    // of the launch's blocks
    // A layer: what its activation makes of the sums, and what went into it where slopes need that. On the way back:
    // slopes along what went into the layer's inputs, and what their activation left.
    TiledMatrix out, kept;
    const float* bias;
    float*
        sums;    // of a last layer [m][pitch]; of weights, a slot for each split: [m][pitch], then sums of A's columns
    uint32_t pitch, splits, slot_floats;
    uint32_t gated;    // of gates of a mingru in one plane: its neurons, else 0
    // Of slopes that make the gradient of a first layer: how many numbers that sees, a tile across, and its slots.
    uint32_t inputs;
    const uint16_t* few;
    float* few_sums;
};

// What one launch computes: the same layer of one or two networks, or the weights of several.
inline constexpr uint32_t most_products = 16;
struct Products {
    Product of[most_products];
    const double*
        found;    // of the policy; nothing is computed where its update has stopped. Or null
    const uint8_t* present;    // whether anything is to be known of 32 rows; or null
    uint32_t count;
    uint32_t adds;    // weights: to what the slots have
    // Of clusters: parts in all, of which each takes every so many'th.
    uint32_t parts, clusters;
    uint32_t stripes;    // or 0: a part is the next stripe of columns of the same rows
};

// A network's last layer: what goes in, slopes along what went into the activation before it, and a slot for each block.
struct LastLayer {
    TiledMatrix seen, slopes, weights;
    const float* bias;
    float* gradient;
    uint32_t slot_floats, pitch;
};

// How the gradient of a layer's weights is summed.
struct LayerSlots {
    const float* gradient;
    uint32_t slot_floats, splits;
    uint32_t in, out, pitch;
    uint32_t parameter;               // the first one
    uint32_t first_block, sharers;    // of the sums: blocks before it, threads that share the slots
    uint32_t rounds;                  // of a block
    uint32_t first_blind, end_blind;    // outputs whose weights stay zero
};

// Whether anything is to be known of a block's rows, from one of its tiles on.
NACELLE_INLINE bool is_present(const uint8_t* present, uint32_t row_tile) {
    if (!present) return true;
    uint32_t any = 0;
    for (uint32_t i = 0; i < product_rows / 32; ++i)
        any |= present[row_tile * (tile_side / 32) + i];
    return any != 0;
}

// A layer that remembers at work on a stream's rows.
struct CellRows {
    uint32_t neurons, offset;    // and where they lie in what a row remembers
    uint32_t step;               // of a gru, which goes step by step
    uint32_t lasting;            // whether rows remember it: not where a rollout ends
    // A mingru's gates where numbers have one plane, as gate_value leaves them.
    TiledMatrix gate_values;
    // [rows][pitch]: gates of what is seen; of a gru also gates of what is remembered, and h itself [across][neurons].
    float *gates, *more, *h;
    uint32_t pitch, back_pitch;
    float*
        back;    // [across][back_pitch]: what comes back from the step behind through a gru's gates
    TiledMatrix out, before;    // what it gives; a gru: and what it had before
    TiledMatrix slopes, gate_slopes, more_slopes;
    // Of a gru that goes through all steps in one launch: the matrix of what is remembered, and what the way forward
    // keeps for the way back.
    TiledMatrix own;
    const float* own_bias;
    // And where gru_sees(inputs), else 0: what the layer sees, and the matrix of that.
    TiledMatrix seen, seen_weights;
    const float* seen_bias;
    uint32_t inputs;
    float* kept;
};

// Rows of a policy's network that go through its layers together.
struct Stream {
    TiledMatrix seen;
    TiledMatrix slopes[2];    // along the outputs of the policy's networks
    float* outputs[2];
    uint32_t pitch[2];
    uint8_t* present;
    uint32_t first, rows;    // which of the launch's rows
    // Of networks that remember: row t * across + i is step t of sequence first + i, of which there are `count`. In a
    // rollout sequences are agents, have one step and, where they learn, once more as many rows: those where an episode
    // was cut short in the step before.
    uint32_t across, count;
    const LayerSlots* layers;
    uint32_t layer_count;
};

}
