#pragma once
#include "tests/algorithms/formulas.h"
#include "tests/algorithms/lesson.h"

// Convolutions in the plainest form there is, from the settings as a run writes them down.
namespace nacelle::test {

struct ConvolutionForm {
    size_t rows, columns, channels;    // in
    size_t kernel_rows, kernel_columns, stride, padding, out;

    size_t out_rows() const { return (rows + 2 * padding - kernel_rows) / stride + 1; }
    size_t out_columns() const { return (columns + 2 * padding - kernel_columns) / stride + 1; }
    size_t parameters() const { return (kernel_rows * kernel_columns * channels + 1) * out; }
};

// The convolutions of one network, and where a row of an observation has its pixels.
struct EncoderForm {
    size_t codes = 0;
    std::vector<size_t> pixels;    // [row][column][channel]: a number of the row
    std::vector<size_t> others;
    std::vector<ConvolutionForm> layers;

    EncoderForm() = default;
    EncoderForm(const EnvSchema& schema, uint32_t group, const Json& hidden) {
        size_t at = schema.header().group[group].obs_width, rows = 0, columns = 0, channels = 0;
        for (size_t i = 0; i < at; ++i) others.push_back(i);
        std::vector<std::vector<size_t>> pixel;
        for (const Field& field : schema.fields()) {
            if (field.role != Role::obs || field.kind != Kind::array || field.group != group)
                continue;
            if (field.rank >= 2) {
                rows = field.dims[0];
                columns = field.dims[1];
                pixel.resize(rows * columns);
            }
            for (size_t k = 0; k < field.count; ++k, ++at)
                if (field.rank < 2) others.push_back(at);
                else pixel[k / (field.count / (rows * columns))].push_back(at);
        }
        for (const auto& of : pixel) {
            pixels.insert(pixels.end(), of.begin(), of.end());
            channels = of.size();
        }
        for (const Json& layer : hidden) {
            if (!layer.contains("conv") && !layer.contains("one_hot")) continue;
            if (layer.contains("one_hot")) {
                codes = layer.at("one_hot");
                channels *= codes;
                continue;
            }
            const Json& size = layer.at("size");
            const bool square = size.is_number();
            layers.push_back({rows, columns, channels, square ? size : size[0],
                              square ? size : size[1], layer.at("stride"), layer.at("padding"),
                              layer.at("conv")});
            rows = layers.back().out_rows();
            columns = layers.back().out_columns();
            channels = layers.back().out;
        }
    }
    size_t width() const {
        const ConvolutionForm& last = layers.back();
        return last.out_rows() * last.out_columns() * last.out + others.size();
    }
    size_t parameters() const {
        size_t all = 0;
        for (const ConvolutionForm& layer : layers) all += layer.parameters();
        return all;
    }
    // What the layers behind the convolutions see; `normal` are the row's numbers as a network without them sees them.
    template <class T>
    std::vector<T> seen(const ActivationForm& activation, const T* weights,
                        const std::vector<double>& row, const std::vector<double>& normal) const {
        std::vector<T> image;
        for (const size_t at : pixels)
            if (codes == 0) image.emplace_back(normal[at]);
            else
                for (size_t code = 0; code < codes; ++code)
                    image.emplace_back(row[at] == double(code) ? 1.0 : 0.0);
        for (const ConvolutionForm& layer : layers) {
            image = convolved(layer, activation, weights, image);
            weights += layer.parameters();
        }
        for (const size_t at : others) image.emplace_back(normal[at]);
        return image;
    }

private:
    template <class T>
    static std::vector<T> convolved(const ConvolutionForm& c, const ActivationForm& activation,
                                    const T* weights, const std::vector<T>& image) {
        const size_t patch = c.kernel_rows * c.kernel_columns * c.channels;
        std::vector<T> made;
        for (size_t r = 0; r < c.out_rows(); ++r)
            for (size_t k = 0; k < c.out_columns(); ++k) {
                std::vector<T> x;
                for (size_t i = 0; i < c.kernel_rows; ++i)
                    for (size_t j = 0; j < c.kernel_columns; ++j)
                        for (size_t channel = 0; channel < c.channels; ++channel) {
                            const size_t row = r * c.stride + i - c.padding,
                                         column = k * c.stride + j - c.padding;
                            const bool there = row < c.rows && column < c.columns;
                            x.push_back(
                                there ? image[(row * c.columns + column) * c.channels + channel]
                                      : T(0.0));
                        }
                for (size_t o = 0; o < c.out; ++o)
                    made.push_back(activated(
                        activation, dot(weights[patch * c.out + o], x, weights + o * patch)));
            }
        return made;
    }
};

}
