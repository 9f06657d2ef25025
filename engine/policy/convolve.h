#pragma once
#include "engine/policy/dense.h"
// From rows of observations to what convolutions make of their images.

namespace nacelle {
namespace {

// Number `at` of each row, normalised; rows that are not there are zero.
NACELLE_INLINE void take_number(const ForwardPass& pass, size_t at, float* to) {
    for (size_t row = 0; row < pass.stride(); ++row) {
        const bool there = row < pass.rows;
        const float x = there ? pass.observations[row * pass.inputs() + at] : 0.0f;
        to[row] = there && pass.mean
                      ? detail::normalised(x, pass.mean[at], pass.scale[at], pass.bound)
                      : x;
    }
}
// A channel for each code.
NACELLE_INLINE void take_code(const ForwardPass& pass, size_t at, size_t codes, float* to) {
    for (size_t code = 0; code < codes; ++code)
        for (size_t row = 0; row < pass.stride(); ++row)
            to[code * pass.stride() + row] =
                row < pass.rows && pass.observations[row * pass.inputs() + at] == float(code)
                    ? 1.0f
                    : 0.0f;
}
NACELLE_INLINE void take_images(const ForwardPass& pass, float* to) {
    const PolicyEncoder& encoder = *pass.encoder;
    for (size_t pixel = 0; pixel < encoder.rows * encoder.columns; ++pixel)
        for (const PolicyEncoder::Image& image : encoder.images)
            for (size_t channel = 0; channel < image.channels; ++channel) {
                const size_t at = image.first + pixel * image.channels + channel;
                if (encoder.codes) take_code(pass, at, encoder.codes, to);
                else take_number(pass, at, to);
                to += max(encoder.codes, size_t(1)) * pass.stride();
            }
}
// What a kernel sees at one position, with zeros around the image.
NACELLE_INLINE void take_patch(const PolicyEncoder::Layer& layer, size_t row, size_t column,
                               const float* image, float* patch, size_t stride) {
    const size_t pixel = layer.channels * stride;
    for (size_t i = 0; i < layer.kernel_rows; ++i)
        for (size_t j = 0; j < layer.kernel_columns; ++j, patch += pixel) {
            // Beyond the first row or column these are beyond the last one, too.
            const size_t r = row * layer.stride + i - layer.padding,
                         c = column * layer.stride + j - layer.padding;
            const bool there = r < layer.rows && c < layer.columns;
            const float* const from = image + (there ? r * layer.columns + c : 0) * pixel;
            for (size_t k = 0; k < pixel; ++k) patch[k] = there ? from[k] : 0.0f;
        }
}

// Leaves what the first layer behind the convolutions sees in `x`; `y` has as much room, `patch` that of a patch.
template <bool fuses>
NACELLE_INLINE void encode(const ForwardPass& pass, float*& x, float*& y, float* patch) {
    const PolicyEncoder& encoder = *pass.encoder;
    const size_t stride = pass.stride();
    take_images(pass, x);
    for (size_t l = 0; l < encoder.layers.size(); ++l) {
        const PolicyEncoder::Layer& layer = encoder.layers[l];
        float* to = y;
        for (size_t row = 0; row < layer.out_rows(); ++row)
            for (size_t column = 0; column < layer.out_columns(); ++column) {
                take_patch(layer, row, column, x, patch, stride);
                dense_layer<fuses>(pass.filters[l], patch, to, stride);
                to += layer.out * stride;
            }
        activate(pass.activation, y, layer.features() * stride);
        swap(x, y);
    }
    float* behind = x + encoder.layers.back().features() * stride;
    for (const size_t at : encoder.others) {
        take_number(pass, at, behind);
        behind += stride;
    }
}

}
}
