#pragma once
#include <learn/gpu/conv/conv_sums.h>
// Convolutions, forward and back to their inputs: conv_tiles.h says how. The gradient of their weights is in
// conv_weights.h.

namespace learn {

// Whether nothing is to be computed for a block's rows.
NACELLE_INLINE bool is_idle(const ConvPass& pass, uint32_t row) {
    return (pass.found && pass.found[stopped] != 0) || (pass.present && !pass.present[row / 32]);
}
template <uint32_t bytes> NACELLE_INLINE uint16_t* conv_memory() {
    return reinterpret_cast<uint16_t*>(block_memory<int(bytes / 4)>());
}

// The observation's numbers that skip the convolutions, behind what the last one makes.
template <int policy, int samples, class Rows>
NACELLE_INLINE void put_others(const TiledMatrix& obs, uint32_t first, const Rows& rows) {
    constexpr Encoder encoder = Spec<policy>::encoder;
    constexpr int planes = Spec<policy>::planes;
    int before = encoder.features();
    const auto put = [&](const RowPart& part) {
        for (int i = int(threadIdx.x); i < samples * planes * part.count; i += int(conv_threads)) {
            const int k = i % part.count, plane = i / part.count % planes,
                      sample = i / part.count / planes;
            rows.row(sample, plane)[before + k] =
                obs.at[size_t(plane) * obs.plane + place_in_tiles(first + uint32_t(sample),
                                                                  uint32_t(part.first + k),
                                                                  obs.across)];
        }
        before += part.count;
    };
    [&]<int... i>(Ints<i...>) { (put(Spec<policy>::encoder.other[i]), ...); }
    (count_to<encoder.others>{});
}

template <class E, int policy, int l>
NACELLE_INLINE void conv_forward(const View<E>&, const ConvPass& pass, Items items) {
    constexpr Encoder encoder = Spec<policy>::encoder;
    constexpr Activation f = Spec<policy>::activation;
    constexpr bool keeps = Curve<f>::needs_input;
    constexpr int planes = Spec<policy>::planes, width = made_by(encoder, l),
                  out = encoder.layer[l].out;
    constexpr ConvBlock block = forward_block(encoder, l, planes, keeps);
    using Images = ConvImages<policy, l, false, block.samples>;
    using Rows = ConvRows<width, planes, block.samples>;
    const uint32_t first = uint32_t(items.begin / conv_threads) * uint32_t(block.samples);
    if (first >= whole_blocks(pass.rows) || is_idle(pass, first)) return;
    const Images images{conv_memory<block.bytes>()};
    const Rows made{images.at + Images::end}, straight{made.at + Rows::end};
    if constexpr (Images::has_zeros) {
        images.clear();
        __syncthreads();
    }
    images.bring(pass.in, first);
    made.clear_ends();
    if constexpr (l + 1 == encoder.count) put_others<policy, block.samples>(pass.obs, first, made);
    if constexpr (keeps) clear_numbers<Rows::end>(straight.at);
    await_chunks();
    each_conv_sum(
        images, pass.weights, pass.weights + conv_biases_at(encoder.layer[l], planes),
        [&](int sample, int pixel, int channel, float x, float y) {
            const int column = pixel * out + channel;
            const bool both = channel + 1 < out;
            made.template put<out % 2 == 0>(sample, column, activated_pair<f, planes>(x, y), both);
            if constexpr (keeps)
                straight.template put<out % 2 == 0>(sample, column, planes_of<planes>(x, y), both);
        });
    __syncthreads();
    made.leave(pass.out, first);
    if constexpr (keeps) {
        if (pass.kept.at) straight.leave(pass.kept, first);
    }
}

// Slopes along what went into a convolution's activation become those along what went into the one before.
template <class E, int policy, int l>
NACELLE_INLINE void conv_backward(const View<E>&, const ConvPass& pass, Items items) {
    constexpr Encoder encoder = Spec<policy>::encoder;
    using C = Curve<Spec<policy>::activation>;
    constexpr int planes = Spec<policy>::planes, width = encoder.layer[l - 1].features(),
                  out = encoder.layer[l].channels;
    constexpr ConvBlock block = backward_block(encoder, l, planes);
    using Images = ConvImages<policy, l, true, block.samples>;
    const uint32_t first = uint32_t(items.begin / conv_threads) * uint32_t(block.samples);
    if (first >= whole_blocks(pass.rows) || is_idle(pass, first)) return;
    const Images images{conv_memory<block.bytes>()};
    const ConvRows<width, planes, block.samples> rows{images.at + Images::end};
    rows.bring(pass.kept, first);
    if constexpr (Images::has_zeros) {
        images.clear();
        __syncthreads();
    }
    images.bring(pass.slopes, first);
    await_chunks();
    each_conv_sum(images, pass.weights + conv_turned_at(encoder.layer[l], planes), nullptr,
                  [&](int sample, int pixel, int channel, float x, float y) {
                      const int column = pixel * out + channel;
                      const bool both = channel + 1 < out;
                      const auto kept = rows.template get<out % 2 == 0>(sample, column, both);
                      const float low = kept.low(), high = kept.high();
                      rows.template put<out % 2 == 0>(
                          sample, column,
                          planes_of<planes>(x * C::slope(low, low), y * C::slope(high, high)),
                          both);
                  });
    __syncthreads();
    rows.leave(pass.out, first);
}

}
