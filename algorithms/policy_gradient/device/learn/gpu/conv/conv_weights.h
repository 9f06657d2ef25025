#pragma once
#include <learn/gpu/conv/conv.h>
// The gradient of a convolution's weights and biases. A block takes some samples after the other, always the same ones,
// and sums into a slot of its own.

namespace learn {

// The slopes of some samples in shared memory, [plane][row][channel], where a row is one sample's position.
template <int policy, int l, int samples> struct ConvSlopes {
    static constexpr Convolution c = Spec<policy>::encoder.layer[l];
    static constexpr int planes = Spec<policy>::planes, pitch = ConvWeights(c, planes).slope_pitch,
                         rows = padded_to(samples * c.positions(), 16), plane = rows * pitch;
    uint16_t* at;

    NACELLE_INLINE void clear() const { clear_numbers<planes * plane>(at); }
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first) const {
        each_chunk<samples, planes, 0, divided_up(c.features(), 8)>(
            matrix, first, [&](int sample, int p, uint32_t chunk, const EightNumbers* eight) {
                scatter_chunk<c.out % 8 == 0, uint32_t(c.features())>(
                    at + p * plane + sample * pitch, chunk, eight,
                    [](uint32_t number) { return place(number); });
            });
    }

private:
    static NACELLE_INLINE uint32_t place(uint32_t number) {
        return number / c.out * samples * pitch + number % c.out;
    }
};

template <int policy, int l> class ConvGradient {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr Convolution c = encoder.layer[l];
    static constexpr int planes = Spec<policy>::planes;
    static constexpr ConvWeights cut{c, planes};
    static constexpr ConvBlock block = weights_block(encoder, l, planes);
    static constexpr int samples = block.samples, down = cut.down, across = cut.across;
    using Images = ConvImages<policy, l, false, samples>;
    using Slopes = ConvSlopes<policy, l, samples>;
    static constexpr ConvProduct product = Images::product;
    static constexpr bool in_eights = product.grain() == 8;

public:
    NACELLE_INLINE ConvGradient(const ConvPass& pass, uint32_t section)
        : pass_(pass),
          images_{conv_memory<block.bytes>()},
          slopes_{images_.at + Images::end},
          warp_(int(threadIdx.x) / 32),
          group_(int(section) * cut.groups + warp_ / cut.ways),
          ours_(group_ < cut.groups_down * cut.groups_across) {
        // Of a tile's numbers this lane reads eight of one row, or two of its own.
        const int lane = warp_lane();
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            NACELLE_UNROLL for (int k = 0; k < offsets; ++k) {
                const int number =
                    first_number() + 16 * i + (in_eights ? lane / 8 % 2 * 8 : 8 * k + lane / 4);
                const int tap = number / product.pixel(), row = tap / c.size_columns;
                offset_[i][k] =
                    number < product.depth()
                        ? Images::offset(row, tap - row * c.size_columns) + number % product.pixel()
                        : 0;
            }
        }
        NACELLE_UNROLL for (int i = 0; i < down * across * 4; ++i) sums_.begin(i / 4, i % 4, 0);
        images_.clear();
        slopes_.clear();
        __syncthreads();
    }
    // What these samples add; those from `next` on may come nearer meanwhile.
    NACELLE_INLINE void add(uint32_t first, uint32_t next) {
        images_.bring(pass_.in, first);
        slopes_.bring(pass_.slopes, first);
        if (next < pass_.rows) {
            bring_chunks_near<samples, planes, Images::begin_chunk(), Images::end_chunk()>(pass_.in,
                                                                                           next);
            bring_chunks_near<samples, planes, 0, divided_up(c.features(), 8)>(pass_.slopes, next);
        }
        await_chunks();
        constexpr int steps = Slopes::rows / 16;
        int done = 0;
        NACELLE_ROLLED for (int step = warp_ % cut.ways; ours_ && step < steps; step += cut.ways) {
            add_step(step);
            if (++done % 4 == 0) sums_.move();
        }
        sums_.move();
        __syncthreads();
        if constexpr (Images::of_codes) {
            images_.clear();
            __syncthreads();
        }
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
    static constexpr int offsets = in_eights ? 1 : 2;

    NACELLE_INLINE int first_number() const { return group_ / cut.groups_across * down * 16; }
    NACELLE_INLINE int first_channel() const { return group_ % cut.groups_across * across * 8; }
    // Where a row's patch begins; behind the last row slopes are zero, and it may be any.
    static NACELLE_INLINE int patch(int row) {
        const int position = row < samples * c.positions() ? row / samples : 0;
        return row % samples * Images::numbers +
               Images::patch(position / c.out_columns(), position % c.out_columns());
    }
    NACELLE_INLINE void add_step(int step) {
        const int lane = warp_lane();
        uint32_t right[across + 1][planes][2];
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (int q = 0; q < across; q += 2) {
                uint32_t words[4];
                load_tiles<true>(words, slopes_.at + p * Slopes::plane +
                                            (16 * step + lane % 16) * Slopes::pitch +
                                            first_channel() + 8 * q + lane / 16 * 8);
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) right[q + k / 2][p][k % 2] = words[k];
            }
        }
        int from[in_eights ? 1 : 4];
        if constexpr (in_eights) from[0] = patch(16 * step + lane % 8 + lane / 16 * 8);
        else {
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) from[i] =
                patch(16 * step + lane % 4 * 2 + i % 2 + i / 2 * 8);
        }
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            uint32_t left[planes][4];
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                const uint16_t* const at = images_.at + p * Images::plane;
                if constexpr (in_eights) load_tiles<true>(left[p], at + from[0] + offset_[i][0]);
                else {
                    NACELLE_UNROLL for (int k = 0; k < 4; ++k) left[p][k] =
                        uint32_t(at[from[k / 2 * 2] + offset_[i][k % 2]]) |
                        uint32_t(at[from[k / 2 * 2 + 1] + offset_[i][k % 2]]) << 16;
                }
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    if (is_one(i, k % 2)) left[p][k] = p == 0 ? 0x3f803f80u : 0u;
                }
            }
            NACELLE_UNROLL for (int q = 0; q < across; ++q)
                multiply_planes<planes>(sums_.sum[i * across + q], left, right[q]);
        }
    }
    // Behind a patch's numbers is a one, whose gradient is the bias's.
    NACELLE_INLINE bool is_one(int i, int k) const {
        return first_number() + 16 * i + 8 * k + warp_lane() / 4 == product.depth();
    }
    NACELLE_INLINE void store_mine(float* slot, bool adds) const {
        const int g = warp_lane() / 4, t = warp_lane() % 4;
        NACELLE_UNROLL for (int i = 0; i < down; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 2; ++k) {
                const int number = first_number() + 16 * i + 8 * k + g,
                          in_pixel = number % product.pixel(),
                          weight = number / product.pixel() * c.channels + in_pixel;
                const bool is_bias = number == product.depth();
                if (number > product.depth() || (in_pixel >= c.channels && !is_bias)) continue;
                float* const to = slot + (is_bias ? size_t(c.out) * pass_.pitch : size_t(weight));
                NACELLE_UNROLL for (int q = 0; q < 2 * across; ++q) {
                    const int channel = first_channel() + 8 * (q / 2) + 2 * t + q % 2;
                    if (channel >= c.out) continue;
                    float* const place = to + size_t(channel) * (is_bias ? 1 : pass_.pitch);
                    const float sum = sums_.at(i * across + q / 2, 2 * k + q % 2);
                    *place = adds ? *place + sum : sum;
                }
            }
        }
    }

    const ConvPass& pass_;
    Images images_;
    Slopes slopes_;
    int warp_, group_;
    bool ours_;
    int offset_[down][offsets];
    ConvSums<planes, down * across> sums_;

public:
    static constexpr uint32_t sections = uint32_t(cut.sections), together = uint32_t(samples);
};

template <class E, int policy, int l>
NACELLE_INLINE void conv_weights(const View<E>&, const ConvPass& pass, Items items) {
    using Gradient = ConvGradient<policy, l>;
    const uint32_t block = uint32_t(items.begin / conv_threads), split = block / Gradient::sections;
    if (is_idle(pass, 0)) return;
    Gradient gradient(pass, block % Gradient::sections);
    constexpr uint32_t together = Gradient::together;
    for (uint32_t first = split * together; first < pass.rows; first += pass.splits * together)
        gradient.add(first, first + pass.splits * together);
    gradient.store(split);
}

}
