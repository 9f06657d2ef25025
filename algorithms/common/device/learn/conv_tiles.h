#pragma once
#include <learn/blocked.h>
#include <learn/conv.h>
// Convolutions whose numbers go through memory, on tensor cores: how their products are cut, what a block has in shared
// memory, and where weights lie. Host and device share this text.
//
// A block brings the images of a few samples out of their tiles into shared memory, with the zeros around them, and
// multiplies patches of them there by the weights: a row of the product is a position, a column a channel, and the sum
// runs over a patch, 16 numbers a step. No patch is ever written down. Slopes go back to a convolution's inputs by the
// same product: of the slopes, with zeros between and around them, and of the weights turned round.

namespace learn {

inline constexpr uint32_t conv_threads = 256;

constexpr int padded_to(int count, int to) { return (count + to - 1) / to * to; }

struct ConvProduct {
    int rows, columns, channels;    // of the image that is read
    // Where its first pixel lies among the zeros, how far the next ones are, and all pixels with the zeros.
    int first_row, first_column, spread, wide_rows, wide_columns;
    int size_rows, size_columns, stride;
    int out_rows, out_columns, out;

    constexpr int positions() const { return out_rows * out_columns; }
    // Numbers from one pixel to the next, which are read in pairs; of a row of a patch, and of all of it.
    constexpr int pitch() const { return padded_to(channels, 2); }
    constexpr int across() const { return size_columns * pitch(); }
    constexpr int depth() const { return size_rows * across(); }
    constexpr int steps() const { return (depth() + 15) / 16; }
    constexpr int quads() const { return (out + 7) / 8; }
    constexpr int image_numbers() const {
        return padded_to(wide_rows * wide_columns * pitch(), int(chunk_numbers));
    }
    // From where in an image a patch goes to where its number k lies.
    constexpr int offset(int k) const {
        return k + k / across() * (wide_columns * pitch() - across());
    }
    // The weights as fragments [step][quad][plane][lane][2 words].
    constexpr int fragment_words(int planes) const { return steps() * quads() * planes * 64; }
    // The 16-bit number of a patch's number k and channel o in the first plane; the next plane's is 128 further on.
    constexpr int place(int k, int o, int planes) const {
        const int in_step = k % 16, lane = o % 8 * 4 + in_step % 8 / 2;
        return ((k / 16 * quads() + o / 8) * planes * 32 + lane) * 4 + in_step / 8 * 2 + k % 2;
    }
};
constexpr ConvProduct forward_of(const Convolution& c) {
    return {c.rows,
            c.columns,
            c.channels,
            c.padding,
            c.padding,
            1,
            c.rows + 2 * c.padding,
            c.columns + 2 * c.padding,
            c.size_rows,
            c.size_columns,
            c.stride,
            c.out_rows(),
            c.out_columns(),
            c.out};
}
// The padding is less than the kernel's sides.
constexpr ConvProduct backward_of(const Convolution& c) {
    return {c.out_rows(),
            c.out_columns(),
            c.out,
            c.size_rows - 1 - c.padding,
            c.size_columns - 1 - c.padding,
            c.stride,
            c.rows + c.size_rows - 1,
            c.columns + c.size_columns - 1,
            c.size_rows,
            c.size_columns,
            1,
            c.rows,
            c.columns,
            c.channels};
}

// Where a layer's prepared weights lie in front of its network's others, in words: its fragments for both ways, and its
// biases as floats.
constexpr int conv_bias_words(const Convolution& c) { return padded_to(c.out, 64); }
constexpr int conv_words_before(const Encoder& e, int layer, int planes) {
    int words = 0;
    for (int l = 0; l < layer; ++l)
        words += forward_of(e.layer[l]).fragment_words(planes) + conv_bias_words(e.layer[l]) +
                 (l > 0 ? backward_of(e.layer[l]).fragment_words(planes) : 0);
    return words;
}
constexpr int conv_words(const Encoder& e, int planes) {
    return conv_words_before(e, e.count, planes);
}
// Behind the start of a layer: forward, biases, backward.
constexpr int conv_biases_at(const Convolution& c, int planes) {
    return forward_of(c).fragment_words(planes);
}
constexpr int conv_turned_at(const Convolution& c, int planes) {
    return conv_biases_at(c, planes) + conv_bias_words(c);
}

// How many samples a block takes, so that several blocks fit on a multiprocessor, and the bytes that it needs for them.
struct ConvBlock {
    int samples;
    uint32_t bytes;
};
inline constexpr int most_conv_bytes = 56 * 1024;
template <class Bytes> constexpr ConvBlock conv_block(Bytes bytes) {
    int samples = 8;
    while (samples > 1 && bytes(samples) > most_conv_bytes) samples /= 2;
    return {samples, uint32_t(bytes(samples))};
}
// Numbers of a row that a layer makes: the last one has the observation's other numbers behind its own.
constexpr int made_by(const Encoder& e, int l) {
    return l + 1 == e.count ? e.width() : e.layer[l].features();
}
// Images, and rows of what comes of them; where the activation needs it, of what went into it, too.
constexpr ConvBlock forward_block(const Encoder& e, int l, int planes, bool keeps_input) {
    const int image = forward_of(e.layer[l]).image_numbers(),
              row = padded_to(made_by(e, l), int(chunk_numbers)) * (keeps_input ? 2 : 1);
    return conv_block([&](int samples) { return samples * planes * 2 * (image + row); });
}
constexpr ConvBlock backward_block(const Encoder& e, int l, int planes) {
    const int image = backward_of(e.layer[l]).image_numbers(),
              row = padded_to(e.layer[l - 1].features(), int(chunk_numbers));
    return conv_block([&](int samples) { return samples * planes * 2 * (image + row); });
}

// The gradient of a convolution's weights: a row of the product is a number of a patch, and behind them a one for the
// biases; a column is a channel, and the sum runs over all positions. A warp has some tiles of 16 rows by 8 columns;
// where it could have all of them, warps share the positions.
struct ConvWeights {
    int down, across, groups_down, groups_across;    // tiles of a warp, and groups of such
    int ways, groups;    // warps that share a group's positions, groups of a block
    int sections;        // blocks that share the groups
    int slope_pitch;     // numbers from one position's slopes to the next

    constexpr ConvWeights(const Convolution& c, int planes)
        : down(0),
          across(0),
          groups_down(0),
          groups_across(0),
          ways(1),
          groups(0),
          sections(0),
          slope_pitch(0) {
        const int tiles_down = (c.patch() + 16) / 16, tiles_across = (c.out + 7) / 8,
                  most = planes > 1 ? 8 : 16;
        across = tiles_across < 8 ? tiles_across : 8;
        down = most / across < tiles_down ? most / across : tiles_down;
        groups_down = (tiles_down + down - 1) / down;
        groups_across = (tiles_across + across - 1) / across;
        const int all = groups_down * groups_across;
        ways = all == 1 ? 8 : all == 2 ? 4 : all <= 4 ? 2 : 1;
        groups = 8 / ways;
        sections = (all + groups - 1) / groups;
        slope_pitch = padded_to(groups_across * across * 8, 16) + 8;
    }
};
constexpr ConvBlock weights_block(const Encoder& e, int l, int planes) {
    const Convolution& c = e.layer[l];
    const int image = forward_of(c).image_numbers(), pitch = ConvWeights(c, planes).slope_pitch;
    return conv_block([&](int samples) {
        return planes * 2 * (samples * image + padded_to(samples * c.positions(), 16) * pitch);
    });
}

// What a launch of a convolution is told.
struct ConvPass {
    TiledMatrix
        in;    // what the convolution sees: the observations, or what the one before has made
    TiledMatrix obs;
    TiledMatrix
        out;    // what it makes; on the way back, slopes along what went into the activation before it
    // What went into its activation, or null; on the way back, from what the slope of the one before is computed.
    TiledMatrix kept;
    TiledMatrix slopes;      // along what went into its activation
    const float* weights;    // prepared, of this layer
    float* sums;             // a slot for each split
    uint32_t slot_floats, pitch, splits, adds;
    const double* found;       // nothing is computed where the policy's update has stopped; or null
    const uint8_t* present;    // whether anything is to be known of 32 rows; or null
    uint32_t rows;
};

}
