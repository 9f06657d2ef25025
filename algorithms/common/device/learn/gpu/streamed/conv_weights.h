#pragma once
#include <learn/gpu/streamed/conv.h>
// The gradient of a convolution's weights and biases. A block takes some samples after the other, always the same ones,
// and sums into a slot of its own.

namespace learn {

// The slopes of some samples in shared memory, [plane][position of all samples][channel].
template <int policy, int l, int samples> struct ConvSlopes {
    static constexpr Convolution c = Spec<policy>::encoder.layer[l];
    static constexpr int planes = Spec<policy>::planes, pitch = ConvWeights(c, planes).slope_pitch,
                         rows = padded_to(samples * c.positions(), 16), plane = rows * pitch;
    uint16_t* at;

    NACELLE_INLINE void clear() const {
        for (int i = int(threadIdx.x); i < planes * plane / 8; i += int(conv_threads))
            reinterpret_cast<EightNumbers*>(at)[i] = EightNumbers{};
    }
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first) const {
        constexpr int chunks = (c.features() + 7) / 8;
        for (int i = int(threadIdx.x); i < samples * planes * chunks; i += int(conv_threads)) {
            const int chunk = i % chunks, p = i / chunks % planes, sample = i / chunks / planes;
            const auto eight = *reinterpret_cast<const EightNumbers*>(
                matrix.at + size_t(p) * matrix.plane +
                place_in_tiles(first + uint32_t(sample), uint32_t(8 * chunk), matrix.across));
            uint16_t* const to = at + p * plane + sample * c.positions() * pitch;
            if constexpr (c.out % 8 == 0)
                *reinterpret_cast<EightNumbers*>(to + 8 * chunk / c.out * pitch +
                                                 8 * chunk % c.out) = eight;
            else {
                NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                    const int number = 8 * chunk + k;
                    if (number < c.features())
                        to[number / c.out * pitch + number % c.out] = eight.at[k];
                }
            }
        }
    }
};

template <int policy, int l> class ConvGradient {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr Convolution c = encoder.layer[l];
    static constexpr int planes = Spec<policy>::planes;
    static constexpr ConvWeights cut{c, planes};
    static constexpr ConvBlock block = weights_block(encoder, l, planes);
    static constexpr int samples = block.samples, down = cut.down, across = cut.across;
    using Images = ConvImages<policy, l, false>;
    using Slopes = ConvSlopes<policy, l, samples>;
    static constexpr ConvProduct product = Images::product;

public:
    NACELLE_INLINE ConvGradient(const ConvPass& pass, uint32_t section)
        : pass_(pass),
          images_{conv_memory<block.bytes>()},
          slopes_{images_.image(samples, 0)},
          warp_(int(threadIdx.x) / 32),
          group_(int(section) * cut.groups + warp_ / cut.ways),
          ours_(group_ < cut.groups_down * cut.groups_across) {
        const int g = warp_lane() / 4;
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 2; ++k) {
                const int number = first_number() + 16 * i + 8 * k + g;
                offset_[i][k] = number < c.patch() ? offset_of(number) : 0;
            }
        }
        sums_.clear();
        images_.clear(samples);
        slopes_.clear();
        __syncthreads();
    }
    NACELLE_INLINE void add(uint32_t first) {
        images_.bring(pass_.in, first, samples);
        slopes_.bring(pass_.slopes, first);
        __syncthreads();
        constexpr int steps = Slopes::rows / 16;
        int done = 0;
        NACELLE_ROLLED for (int step = warp_ % cut.ways; ours_ && step < steps; step += cut.ways) {
            add_step(step);
            if (++done % 4 == 0) sums_.move();
        }
        sums_.move();
        __syncthreads();
    }
    // Warps that share a group add their sums one after the other.
    NACELLE_INLINE void store(uint32_t split) const {
        float* const slot = pass_.sums + size_t(split) * pass_.slot_floats;
        for (int way = 0; way < cut.ways; ++way) {
            if (way > 0) __syncthreads();
            if (ours_ && warp_ % cut.ways == way) store_mine(slot, pass_.adds || way > 0);
        }
    }

private:
    NACELLE_INLINE int first_number() const { return group_ / cut.groups_across * down * 16; }
    NACELLE_INLINE int first_channel() const { return group_ % cut.groups_across * across * 8; }
    static NACELLE_INLINE int offset_of(int number) {
        constexpr int row = c.size_columns * c.channels;
        return (number / row * product.wide_columns + number % row / c.channels) * product.pitch() +
               number % c.channels;
    }
    // Where the patch of a position begins, of all samples' positions.
    NACELLE_INLINE const uint16_t* patch(int position) const {
        const int its = position < samples * c.positions() ? position : 0,
                  in_image = its % c.positions();
        return images_.image(its / c.positions(), 0) +
               (in_image / product.out_columns * product.wide_columns +
                in_image % product.out_columns) *
                   product.stride * product.pitch();
    }
    NACELLE_INLINE void add_step(int step) {
        const int lane = warp_lane(), t = lane % 4;
        uint32_t right[planes][across + 1][2];
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (int q = 0; q < across; q += 2) {
                uint32_t words[4];
                load_tiles<true>(words, slopes_.at + p * Slopes::plane +
                                            (16 * step + lane % 16) * Slopes::pitch +
                                            first_channel() + 8 * q + lane / 16 * 8);
                right[p][q][0] = words[0];
                right[p][q][1] = words[1];
                right[p][q + 1][0] = words[2];
                right[p][q + 1][1] = words[3];
            }
        }
        const uint16_t* from[4];
        NACELLE_UNROLL for (int i = 0; i < 4; ++i) from[i] =
            patch(16 * step + 2 * t + i % 2 + i / 2 * 8);
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            uint32_t left[planes][4];
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    const int offset = offset_[i][k % 2] + p * Images::numbers;
                    left[p][k] = uint32_t(from[k / 2 * 2][offset]) |
                                 uint32_t(from[k / 2 * 2 + 1][offset]) << 16;
                    if (is_one(i, k % 2)) left[p][k] = p == 0 ? 0x3f803f80u : 0u;
                }
            }
            NACELLE_UNROLL for (int q = 0; q < across; ++q) {
                uint32_t its[planes][2];
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                    its[p][0] = right[p][q][0];
                    its[p][1] = right[p][q][1];
                }
                multiply_planes<planes>(sums_.sum[i * across + q], left, its);
            }
        }
    }
    // Behind a patch's numbers is a one, whose gradient is the bias's.
    NACELLE_INLINE bool is_one(int i, int k) const {
        return first_number() + 16 * i + 8 * k + warp_lane() / 4 == c.patch();
    }
    NACELLE_INLINE void store_mine(float* slot, bool adds) const {
        const int g = warp_lane() / 4, t = warp_lane() % 4;
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            NACELLE_UNROLL for (int q = 0; q < across; ++q) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    const int number = first_number() + 16 * i + 8 * (k / 2) + g,
                              channel = first_channel() + 8 * q + 2 * t + k % 2;
                    if (number > c.patch() || channel >= c.out) continue;
                    float* const to = number < c.patch()
                                          ? slot + size_t(channel) * pass_.pitch + size_t(number)
                                          : slot + size_t(c.out) * pass_.pitch + size_t(channel);
                    const float sum = sums_.at(i * across + q, k);
                    *to = adds ? *to + sum : sum;
                }
            }
        }
    }

    const ConvPass& pass_;
    Images images_;
    Slopes slopes_;
    int warp_, group_;
    bool ours_;
    int offset_[down][2];
    ConvSums<planes, down * across> sums_;

public:
    static constexpr uint32_t sections = uint32_t(cut.sections), together = uint32_t(samples);
};

template <class E, int policy, int l>
NACELLE_INLINE void conv_weights(const View<E>&, const ConvPass& pass, Items items) {
    using Gradient = ConvGradient<policy, l>;
    const uint32_t block = uint32_t(items.begin / conv_threads), split = block / Gradient::sections,
                   batches = (pass.rows + Gradient::together - 1) / Gradient::together;
    if (is_idle(pass, 0)) return;
    Gradient gradient(pass, block % Gradient::sections);
    for (uint32_t batch = split; batch < batches; batch += pass.splits)
        gradient.add(batch * Gradient::together);
    gradient.store(split);
}

}
