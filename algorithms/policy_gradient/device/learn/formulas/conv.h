#pragma once
#include <nacelle/platform.h>
// Convolutions in front of a network's other layers: their sizes, which host and device share.
//
// All two- and three-dimensional images of an observation have the same rows and columns; their channels lie one behind
// the other. A convolution's parameters are weights [channels out][rows][columns][channels in], then biases. What it
// makes of a sample is [row][column][channel]. Behind what the last one makes, the network sees the observation's other
// numbers in their order.

namespace learn {

inline constexpr int most_convolutions = 8, most_images = 8;

// One convolution and what goes into it.
struct Convolution {
    int rows, columns, channels;    // in
    int size_rows, size_columns, stride, padding;
    int out;    // channels

    static constexpr int along(int length, int size, int stride, int padding) {
        return length + 2 * padding < size ? 0 : (length + 2 * padding - size) / stride + 1;
    }
    constexpr int out_rows() const { return along(rows, size_rows, stride, padding); }
    constexpr int out_columns() const { return along(columns, size_columns, stride, padding); }
    constexpr int positions() const { return out_rows() * out_columns(); }
    constexpr int patch() const { return size_rows * size_columns * channels; }
    constexpr int features() const { return positions() * out; }
    constexpr int parameters() const { return (patch() + 1) * out; }
};

// Some numbers of an observation's row: `count` from number `first` on. An image's have so many channels a pixel.
struct RowPart {
    int first, count, channels;
};

// The convolutions of one network; count 0: there are none.
struct Encoder {
    int count = 0;
    int codes =
        0;    // each element of the images becomes so many channels, of which one is 1; 0: it stays a number
    int images = 0, others = 0;
    RowPart image[most_images] = {};
    RowPart other[most_images + 1] = {};    // what skips the convolutions
    Convolution layer[most_convolutions] = {};

    constexpr int features() const { return count ? layer[count - 1].features() : 0; }
    constexpr int others_width() const {
        int all = 0;
        for (int i = 0; i < others; ++i) all += other[i].count;
        return all;
    }
    // What the first layer behind the convolutions sees.
    constexpr int width() const { return features() + others_width(); }
    constexpr int before(int l) const {
        int all = 0;
        for (int i = 0; i < l; ++i) all += layer[i].parameters();
        return all;
    }
    constexpr int parameters() const { return before(count); }
    // Whether a number of the row is a code, which is not normalised.
    constexpr bool is_code(int at) const {
        for (int i = 0; i < images && codes; ++i)
            if (at >= image[i].first && at < image[i].first + image[i].count) return true;
        return false;
    }
    // The channel of an image's first element among those of all images, before they become codes.
    constexpr int first_channel(int which) const {
        int all = 0;
        for (int i = 0; i < which; ++i) all += image[i].channels;
        return all;
    }
};

}
