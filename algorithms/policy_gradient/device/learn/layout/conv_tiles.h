#pragma once
#include <learn/formulas/conv.h>
#include <learn/layout/blocked.h>
// Convolutions whose numbers go through memory, on tensor cores: how their products are cut, what a block has in shared
// memory, and where weights lie. Host and device share this text.
//
// A block brings the images of a few samples out of their tiles into shared memory, with the zeros around them, and
// multiplies patches of them there by the weights: a column of the product is a channel, and the sum runs over a patch,
// 16 numbers a step. No patch is ever written down. A row is one sample's position, and samples go before positions:
// the eight rows that tensor cores read at once are eight samples, whose images begin in banks of their own.
//
// Slopes go back to a convolution's inputs by the same product, of the slopes with zeros around them and of the weights
// turned round. By a stride of s an input has met every s'th row and column of the kernel alone: which ones, is the same
// for every s'th input. So what is made has s by s phases, each with taps and weights of its own.

namespace learn {

inline constexpr uint32_t conv_threads = 256;

constexpr int padded_to(int count, int to) { return (count + to - 1) / to * to; }

// Rows or columns of a product's images.
struct ConvSide {
    int length, first,
        wide;    // that are read; where their first one lies among the zeros; all with the zeros
    int size, stride;    // of the kernel; from one patch to the next
    int made;            // rows or columns of what is made
    // Phase i makes number i and every phases'th behind it. Padding puts the first one so far behind the kernel's.
    int phases, padding;

    constexpr int most_taps() const { return divided_up(size, phases); }
    constexpr int most_made() const { return divided_up(made, phases); }
    constexpr int taps(int phase) const {
        return divided_up(size - (phase + padding) % phases, phases);
    }
    constexpr int made_in(int phase) const { return divided_up(made - phase, phases); }
    // Where its first patch begins among the zeros.
    constexpr int begin(int phase) const {
        return (phase + padding) / phases - padding / phases + most_taps() - taps(phase);
    }
    // The phase that a row or column of the kernel belongs to, and which of its taps that is: turned round.
    constexpr int phase_of(int tap) const { return (tap + phases - padding % phases) % phases; }
    constexpr int turned(int tap) const { return taps(phase_of(tap)) - 1 - tap / phases; }
};
constexpr ConvSide forward_side(int length, int size, int stride, int padding) {
    return {length, padding, length + 2 * padding,
            size,   stride,  Convolution::along(length, size, stride, padding),
            1,      0};
}
// The padding is less than the kernel's sides.
constexpr ConvSide backward_side(int length, int size, int stride, int padding) {
    const int taps = divided_up(size, stride), before = padding / stride;
    return {Convolution::along(length, size, stride, padding),
            taps - 1 - before,
            (length - 1 + padding) / stride - before + taps,
            size,
            1,
            length,
            stride,
            padding};
}

struct ConvProduct {
    ConvSide rows, columns;
    int channels, out;

    // Phases of its results.
    constexpr int phases() const { return rows.phases * columns.phases; }
    constexpr int taps(int phase) const {
        return rows.taps(phase / columns.phases) * columns.taps(phase % columns.phases);
    }
    constexpr int positions(int phase) const {
        return rows.made_in(phase / columns.phases) * columns.made_in(phase % columns.phases);
    }
    // Numbers of a patch are read in eights, of few channels in pairs, and so a pixel has so many of them.
    constexpr int grain() const { return padded_to(channels, 8) * 3 <= channels * 4 ? 8 : 2; }
    constexpr int pixel() const { return padded_to(channels, grain()); }
    constexpr int depth(int phase = 0) const { return taps(phase) * pixel(); }
    constexpr int steps(int phase) const { return divided_up(depth(phase), 16); }
    constexpr int first_step(int phase) const {
        int all = 0;
        for (int i = 0; i < phase; ++i) all += steps(i);
        return all;
    }
    constexpr int quads() const { return divided_up(out, 8); }
    constexpr int pairs() const { return divided_up(out, 16); }

    // Numbers in shared memory from a pixel to the next, and from an image to the next. Positions of fewer samples than
    // eight, too, are to lie in banks of their own, where images leave room for it.
    constexpr int pitch(int samples) const {
        const bool spreads = grain() == 8 && samples < 8 &&
                             rows.wide * columns.wide * pixel() <= most_spread_numbers;
        return spreads ? padded_to(pixel() - 8, 16) + 8 : pixel();
    }
    constexpr int image_numbers(int samples) const {
        const int least = divided_up(rows.wide * columns.wide * pitch(samples), 8);
        int best = least;
        for (int chunks = least + 1; chunks < least + 8; ++chunks)
            if (conflicts(chunks, samples) < conflicts(best, samples)) best = chunks;
        return best * 8;
    }

    // The weights as fragments [step][pair of 8 columns][plane][lane][2 x 2 words]: a pair of one plane's has so many
    // numbers.
    static constexpr int pair_numbers = 256;
    constexpr int fragment_words(int planes) const {
        return first_step(phases()) * pairs() * planes * (pair_numbers / 2);
    }
    // The 16-bit number of a phase's number k and channel o in the first plane.
    constexpr int place(int phase, int k, int o, int planes) const {
        const int in_step = k % 16, lane = o % 8 * 4 + in_step % 8 / 2,
                  pair = (first_step(phase) + k / 16) * pairs() + o / 16;
        return pair * planes * pair_numbers + lane * 8 + o % 16 / 8 * 4 + in_step / 8 * 2 + k % 2;
    }

private:
    static constexpr int most_spread_numbers = 16 * 1024;

    // How many of eight rows at most begin in the same banks.
    constexpr int conflicts(int image_chunks, int samples) const {
        int of_bank[8] = {}, most = 0;
        for (int row = 0; row < 8; ++row) {
            const int at =
                row % samples * image_chunks + row / samples * columns.stride * pitch(samples) / 8;
            if (++of_bank[at % 8] > most) most = of_bank[at % 8];
        }
        return most;
    }
};
constexpr ConvProduct forward_of(const Convolution& c) {
    return {forward_side(c.rows, c.size_rows, c.stride, c.padding),
            forward_side(c.columns, c.size_columns, c.stride, c.padding), c.channels, c.out};
}
constexpr ConvProduct backward_of(const Convolution& c) {
    return {backward_side(c.rows, c.size_rows, c.stride, c.padding),
            backward_side(c.columns, c.size_columns, c.stride, c.padding), c.out, c.channels};
}
// Tiles of 16 rows and pairs of 8 columns that a warp sums at once. Between two rounds of the warps they load and
// multiply least that way.
struct ConvCut {
    int down = 1, across = 1;

    constexpr ConvCut(const ConvProduct& p, int samples, int planes) {
        const int most = planes > 1 ? 4 : 8,
                  tiles = divided_up(samples * p.rows.made * p.columns.made, 16);
        int least = 0;
        for (int wide = 1; wide <= 4 && wide <= p.pairs(); ++wide)
            for (int high = 1; high <= 4 && high * wide <= most; ++high) {
                const int items = divided_up(tiles, high) * divided_up(p.pairs(), wide),
                          cost = divided_up(items, 8) * (high * wide + high + wide);
                if (least > 0 && cost > least) continue;
                least = cost;
                down = high;
                across = wide;
            }
    }
};

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

// How many samples a block takes, so that two blocks fit on a multiprocessor, and the bytes that it needs for them. Every
// GPU with these tensor cores has so many for a block.
struct ConvBlock {
    int samples;
    uint32_t bytes;
};
inline constexpr int most_conv_bytes = 99 * 1024;
template <class Bytes> constexpr ConvBlock conv_block(Bytes bytes) {
    int samples = 8;
    while (samples > 1 && bytes(samples) > most_conv_bytes) samples /= 2;
    return {samples, uint32_t(bytes(samples))};
}
// Numbers of a row that a layer makes: the last one has the observation's other numbers behind its own.
constexpr int made_by(const Encoder& e, int l) {
    return l + 1 == e.count ? e.width() : e.layer[l].features();
}
// Of a row in shared memory, so that eight rows begin in banks of their own.
constexpr int conv_row_numbers(int width) { return padded_to(width, 16) + 8; }
// Images, and rows of what comes of them; where the activation needs it, of what went into it, too.
constexpr ConvBlock product_block(const ConvProduct& p, int row_numbers, int planes) {
    return conv_block([&](int samples) {
        return samples * planes * 2 * (p.image_numbers(samples) + row_numbers);
    });
}
constexpr ConvBlock forward_block(const Encoder& e, int l, int planes, bool keeps_input) {
    return product_block(forward_of(e.layer[l]),
                         conv_row_numbers(made_by(e, l)) * (keeps_input ? 2 : 1), planes);
}
constexpr ConvBlock backward_block(const Encoder& e, int l, int planes) {
    return product_block(backward_of(e.layer[l]), conv_row_numbers(e.layer[l - 1].features()),
                         planes);
}

// The gradient of a convolution's weights: a row of the product is a number of a patch, and behind them a one for the
// biases; a column is a channel, and the sum runs over all positions. A warp has some tiles of 16 rows by 8 columns;
// where there are fewer such groups than warps, warps share the positions.
struct ConvWeights {
    int down = 0, across = 0, groups_down = 0, groups_across = 0;    // tiles of a warp, and groups
    int ways = 1, groups = 0;    // warps that share a group's positions, groups of a block
    int sections = 0;            // blocks that share the groups
    int slope_pitch = 0;         // numbers from one position's slopes to the next

    constexpr ConvWeights(const Convolution& c, int planes) {
        const ConvProduct p = forward_of(c);
        const int tiles_down = p.depth() / 16 + 1, most = planes > 1 ? 8 : p.grain() == 8 ? 20 : 16;
        groups_across = divided_up(p.quads(), 4);
        across = divided_up(p.quads(), groups_across);
        int least = 0;
        for (int cut = 1; cut <= tiles_down; ++cut) {
            const int high = divided_up(tiles_down, cut), all = cut * groups_across,
                      shared_by = all > 4   ? 1
                                  : all > 2 ? 2
                                  : all > 1 ? 4
                                            : 8,
                      blocks = divided_up(all, 8 / shared_by),
                      cost = blocks * (high * across + high + across) * 8 / shared_by;
            if (high * across > most || (least > 0 && cost >= least)) continue;
            least = cost;
            down = high;
            groups_down = cut;
            ways = shared_by;
            groups = 8 / shared_by;
            sections = blocks;
        }
        slope_pitch = padded_to(groups_across * across * 8, 16) + 8;
    }
};
constexpr ConvBlock weights_block(const Encoder& e, int l, int planes) {
    const Convolution& c = e.layer[l];
    const int pitch = ConvWeights(c, planes).slope_pitch;
    return conv_block([&](int samples) {
        return planes * 2 *
               (samples * forward_of(c).image_numbers(samples) +
                padded_to(samples * c.positions(), 16) * pitch);
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
