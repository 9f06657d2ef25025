#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace nacelle {

// The convolutions in front of a policy's layers. What one makes of an image is [row][column][channel]; behind what the
// last one makes, the layers see the observation's other numbers in their order.
struct PolicyEncoder {
    // An image in a row of observations, [row][column][channel] from number `first` on; all have the same size, and their
    // channels lie one behind the other.
    struct Image {
        size_t first, channels;
    };
    // Weights [channels out][kernel's row][column][channel in], then the biases.
    struct Layer {
        size_t rows, columns, channels;    // in
        size_t kernel_rows, kernel_columns, stride, padding, out;

        size_t out_rows() const { return (rows + 2 * padding - kernel_rows) / stride + 1; }
        size_t out_columns() const { return (columns + 2 * padding - kernel_columns) / stride + 1; }
        size_t patch() const { return kernel_rows * kernel_columns * channels; }
        size_t features() const { return out_rows() * out_columns() * out; }
    };

    size_t rows = 0, columns = 0;    // of the images
    size_t codes =
        0;    // each element becomes so many channels, of which one is 1; 0: it stays a number
    std::vector<Image> images;
    std::vector<Layer> layers;
    std::vector<size_t> others;    // the numbers of a row that are no image's

    // Where the elements of the images lie in a row of observations, [row][column][channel] of all images.
    std::vector<size_t> places() const {
        std::vector<size_t> all;
        for (size_t pixel = 0; pixel < rows * columns; ++pixel)
            for (const Image& image : images)
                for (size_t channel = 0; channel < image.channels; ++channel)
                    all.push_back(image.first + pixel * image.channels + channel);
        return all;
    }
    bool empty() const { return layers.empty(); }
    // What the first layer behind the convolutions sees.
    size_t width() const { return layers.back().features() + others.size(); }
    size_t image_numbers() const { return rows * columns * layers.front().channels; }
    size_t widest() const {
        size_t most = std::max(image_numbers(), width());
        for (const Layer& layer : layers) most = std::max(most, layer.features());
        return most;
    }
    size_t largest_patch() const {
        size_t most = 0;
        for (const Layer& layer : layers) most = std::max(most, layer.patch());
        return most;
    }
};

}
