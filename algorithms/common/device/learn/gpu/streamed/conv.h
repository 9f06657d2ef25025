#pragma once
#include <learn/gpu/streamed/conv_images.h>
// Convolutions, forward and back to their inputs: conv_tiles.h says how. The gradient of their weights is in
// conv_weights.h.

namespace learn {

// Rows of results in shared memory, on their way from or to a matrix.
template <int width, int planes> struct ConvRows {
    static constexpr int numbers = padded_to(width, int(chunk_numbers));
    uint16_t* at;

    NACELLE_INLINE uint16_t* row(int sample, int plane) const {
        return at + (sample * planes + plane) * numbers;
    }
    // What lies behind a row's last number.
    NACELLE_INLINE void clear_ends(int samples) const {
        constexpr int left = numbers - width;
        if constexpr (left > 0)
            for (int i = int(threadIdx.x); i < samples * planes * left; i += int(conv_threads))
                row(0, i / left)[width + i % left] = 0;
    }
    // fn(chunk in shared memory, chunk in the matrix)
    template <class Fn>
    NACELLE_INLINE void each_chunk(const TiledMatrix& matrix, uint32_t first, int samples,
                                   Fn&& fn) const {
        constexpr int chunks = numbers / int(chunk_numbers);
        for (int i = int(threadIdx.x); i < samples * planes * chunks; i += int(conv_threads)) {
            const int chunk = i % chunks, plane = i / chunks % planes, sample = i / chunks / planes;
            fn(reinterpret_cast<EightNumbers*>(row(sample, plane)) + chunk,
               reinterpret_cast<EightNumbers*>(
                   matrix.at + size_t(plane) * matrix.plane +
                   place_in_tiles(first + uint32_t(sample), uint32_t(8 * chunk), matrix.across)));
        }
    }
    NACELLE_INLINE void leave(const TiledMatrix& matrix, uint32_t first, int samples) const {
        each_chunk(matrix, first, samples,
                   [](EightNumbers* here, EightNumbers* there) { *there = *here; });
    }
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first, int samples) const {
        each_chunk(matrix, first, samples,
                   [](EightNumbers* here, EightNumbers* there) { *here = *there; });
    }
    // Two neighbours, or the first one alone.
    template <bool in_pairs>
    NACELLE_INLINE void put(int sample, int column, const Planes<planes>& pair, bool both) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            uint16_t* const to = row(sample, p) + column;
            if constexpr (in_pairs) *reinterpret_cast<uint32_t*>(to) = pair.at[p];
            else {
                to[0] = uint16_t(pair.at[p]);
                if (both) to[1] = uint16_t(pair.at[p] >> 16);
            }
        }
    }
    NACELLE_INLINE Planes<planes> get(int sample, int column, bool both) const {
        Planes<planes> pair;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const from = row(sample, p) + column;
            pair.at[p] = uint32_t(from[0]) | (both ? uint32_t(from[1]) << 16 : 0u);
        }
        return pair;
    }
};

// One step of a sum of planes' products, the small ones first.
template <int planes>
NACELLE_INLINE void multiply_planes(float (&sum)[4], const uint32_t (&left)[planes][4],
                                    const uint32_t (&right)[planes][2]) {
    NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
        NACELLE_UNROLL for (int p = small; p >= 0; --p)
            multiply(sum, left[p], right[small - p][0], right[small - p][1]);
    }
}
// Sums of tensor cores, and those in floats that they are added to now and then where numbers have several planes.
template <int planes, int count> struct ConvSums {
    float sum[count][4], exact[planes > 1 ? count : 1][4];

    NACELLE_INLINE void clear() {
        NACELLE_UNROLL for (int i = 0; i < count; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                sum[i][k] = 0;
                if constexpr (planes > 1) exact[i][k] = 0;
            }
        }
    }
    NACELLE_INLINE void move() {
        NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? count : 0); ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                exact[i][k] += sum[i][k];
                sum[i][k] = 0;
            }
        }
    }
    NACELLE_INLINE float at(int i, int k) const {
        if constexpr (planes > 1) return exact[i][k] + sum[i][k];
        else return sum[i][k];
    }
};

// fn(sample, position, channel, sums of this channel and the next) for all that the images' patches make of the weights.
template <class Images, class Fn>
NACELLE_INLINE void each_conv_sum(const Images& images, int samples, const float* weights,
                                  Fn&& fn) {
    constexpr ConvProduct p = Images::product;
    constexpr int planes = Images::planes, most = planes > 1 ? 4 : 8,
                  together = p.quads() < most ? p.quads() : most,
                  across = (p.quads() + together - 1) / together;
    const int lane = warp_lane(), g = lane / 4, t = lane % 4, rows = samples * p.positions(),
              items = (rows + 15) / 16 * across;
    const auto* const fragments = reinterpret_cast<const FragmentWords*>(weights);
    NACELLE_ROLLED for (int item = int(threadIdx.x) / 32; item < items;
                        item += int(conv_threads) / 32) {
        const int first_quad = item % across * together, row = item / across * 16 + g;
        const uint16_t* from[2];
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            const int its = row + 8 * i < rows ? row + 8 * i : 0, position = its % p.positions();
            from[i] = images.image(its / p.positions(), 0) +
                      (position / p.out_columns * p.wide_columns + position % p.out_columns) *
                          p.stride * p.pitch();
        }
        ConvSums<planes, together> sums;
        sums.clear();
        const auto step = [&](int k) {
            int offset[2];
            NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
                const int number = 16 * k + 8 * i + 2 * t;
                offset[i] = number < p.depth() ? p.offset(number) : 0;
            }
            uint32_t left[planes][4];
            NACELLE_UNROLL for (int plane = 0; plane < planes; ++plane) {
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) left[plane][i] =
                    *reinterpret_cast<const uint32_t*>(from[i % 2] + plane * Images::numbers +
                                                       offset[i / 2]);
            }
            NACELLE_UNROLL for (int q = 0; q < together; ++q) {
                const int quad = min(first_quad + q, p.quads() - 1);
                uint32_t right[planes][2];
                NACELLE_UNROLL for (int plane = 0; plane < planes; ++plane) {
                    const FragmentWords words =
                        fragments[((k * p.quads() + quad) * planes + plane) * 32 + lane];
                    right[plane][0] = words.at[0];
                    right[plane][1] = words.at[1];
                }
                multiply_planes<planes>(sums.sum[q], left, right);
            }
            if (k % 4 == 3) sums.move();
        };
        if constexpr (p.steps() <= 6) {
            NACELLE_UNROLL for (int k = 0; k < p.steps(); ++k) step(k);
        } else {
            NACELLE_ROLLED for (int k = 0; k < p.steps(); ++k) step(k);
        }
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            const int its = row + 8 * i;
            if (its >= rows) continue;
            NACELLE_UNROLL for (int q = 0; q < together; ++q) {
                const int channel = 8 * (first_quad + q) + 2 * t;
                if (channel < p.out)
                    fn(its / p.positions(), its % p.positions(), channel, sums.at(q, 2 * i),
                       sums.at(q, 2 * i + 1));
            }
        }
    }
}

// Whether nothing is to be computed for a block's rows.
NACELLE_INLINE bool is_idle(const ConvPass& pass, uint32_t row) {
    return (pass.found && pass.found[stopped] != 0) || (pass.present && !pass.present[row / 32]);
}
template <uint32_t bytes> NACELLE_INLINE uint16_t* conv_memory() {
    return reinterpret_cast<uint16_t*>(block_memory<int(bytes / 4)>());
}

// The observation's numbers that skip the convolutions, behind what the last one makes.
template <int policy, class Rows>
NACELLE_INLINE void put_others(const TiledMatrix& obs, uint32_t first, int samples,
                               const Rows& rows) {
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
    constexpr int planes = Spec<policy>::planes, width = made_by(encoder, l),
                  out = encoder.layer[l].out;
    constexpr bool keeps = Curve<f>::needs_input;
    constexpr ConvBlock block = forward_block(encoder, l, planes, keeps);
    const uint32_t first = uint32_t(items.begin / conv_threads) * uint32_t(block.samples);
    if (first >= whole_blocks(pass.rows) || is_idle(pass, first)) return;
    uint16_t* const memory = conv_memory<block.bytes>();
    const ConvImages<policy, l, false> images{memory};
    const ConvRows<width, planes> made{images.image(block.samples, 0)},
        straight{made.row(block.samples, 0)};
    images.clear(block.samples);
    made.clear_ends(block.samples);
    if constexpr (keeps) {
        for (int i = int(threadIdx.x); i < block.samples * planes * straight.numbers / 8;
             i += int(conv_threads))
            reinterpret_cast<EightNumbers*>(straight.at)[i] = EightNumbers{};
    }
    __syncthreads();
    images.bring(pass.in, first, block.samples);
    if constexpr (l + 1 == encoder.count) put_others<policy>(pass.obs, first, block.samples, made);
    __syncthreads();
    const float* const bias = pass.weights + conv_biases_at(encoder.layer[l], planes);
    each_conv_sum(
        images, block.samples, pass.weights,
        [&](int sample, int position, int channel, float x, float y) {
            x += bias[channel];
            y += bias[channel + 1];
            const int column = position * out + channel;
            const bool both = channel + 1 < out;
            made.template put<out % 2 == 0>(sample, column, activated_pair<f, planes>(x, y), both);
            if constexpr (keeps)
                straight.template put<out % 2 == 0>(sample, column, planes_of<planes>(x, y), both);
        });
    __syncthreads();
    made.leave(pass.out, first, block.samples);
    if constexpr (keeps) {
        if (pass.kept.at) straight.leave(pass.kept, first, block.samples);
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
    const uint32_t first = uint32_t(items.begin / conv_threads) * uint32_t(block.samples);
    if (first >= whole_blocks(pass.rows) || is_idle(pass, first)) return;
    const ConvImages<policy, l, true> images{conv_memory<block.bytes>()};
    const ConvRows<width, planes> rows{images.image(block.samples, 0)};
    images.clear(block.samples);
    rows.bring(pass.kept, first, block.samples);
    __syncthreads();
    images.bring(pass.slopes, first, block.samples);
    __syncthreads();
    each_conv_sum(images, block.samples, pass.weights + conv_turned_at(encoder.layer[l], planes),
                  [&](int sample, int position, int channel, float x, float y) {
                      const int column = position * out + channel;
                      const bool both = channel + 1 < out;
                      const Planes<planes> kept = rows.get(sample, column, both);
                      const float low = kept.low(), high = kept.high();
                      rows.template put<out % 2 == 0>(
                          sample, column,
                          planes_of<planes>(x * C::slope(low, low), y * C::slope(high, high)),
                          both);
                  });
    __syncthreads();
    rows.leave(pass.out, first, block.samples);
}

}
