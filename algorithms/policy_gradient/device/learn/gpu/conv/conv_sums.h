#pragma once
#include <learn/formulas/four.h>
#include <learn/gpu/conv/conv_images.h>
// The product of images' patches and weights, on tensor cores.

namespace learn {

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

    NACELLE_INLINE void begin(int i, int k, float with) {
        sum[i][k] = planes > 1 ? 0 : with;
        if constexpr (planes > 1) exact[i][k] = with;
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

// A phase of what an image's positions make.
template <class Images> struct ConvPhase {
    static constexpr ConvProduct p = Images::product;
    int row, column;        // the first ones that it makes
    int columns, across;    // that it makes, and taps of a patch's row
    int rows;               // of the product: samples of positions
    int depth, first_patch;
    float by_columns, by_across;    // one over each

    NACELLE_INLINE explicit ConvPhase(int phase)
        : row(phase / p.columns.phases),
          column(phase % p.columns.phases),
          columns(p.columns.made_in(column)),
          across(p.columns.taps(column)),
          rows(Images::samples * p.positions(phase)),
          depth(p.depth(phase)),
          first_patch(Images::offset(p.rows.begin(row), p.columns.begin(column))),
          by_columns(1.0f / float(columns)),
          by_across(1.0f / float(across)) {}
    // Where a row's patch begins; behind the last row it may be any.
    NACELLE_INLINE int patch(int its) const {
        const int position = its < rows ? its / Images::samples : 0, down = row_of(position);
        return its % Images::samples * Images::numbers + first_patch +
               Images::patch(down, position - down * columns);
    }
    // Which pixel a row makes.
    NACELLE_INLINE int pixel(int its) const {
        const int position = its / Images::samples, down = row_of(position);
        return (row + down * p.rows.phases) * p.columns.made + column +
               (position - down * columns) * p.columns.phases;
    }
    // From where a patch begins to where its number lies. Weights behind the last one are zero, whatever they meet.
    NACELLE_INLINE int offset(int number) const {
        if (number >= depth) return 0;
        const int tap = number / p.pixel(),
                  down = is_only ? tap / p.columns.size : over(tap, by_across);
        return Images::offset(down, tap - down * across) + number % p.pixel();
    }

private:
    static constexpr bool is_only = p.phases() == 1;

    NACELLE_INLINE int row_of(int position) const {
        return is_only ? position / p.columns.made : over(position, by_columns);
    }
    // Whole numbers below a million through one over their divisor: far from where a rounded float would be the next one.
    static NACELLE_INLINE int over(int x, float by) { return int((float(x) + 0.5f) * by); }
};

// Where a lane finds its words of some tiles of 16 patches by 16 of their numbers: four tiles of 8 by 8 at once, each lane
// one row of them, or pair by pair.
template <class Images, int tiles> class ConvPatches {
    static constexpr ConvProduct p = Images::product;
    static constexpr bool in_eights = p.grain() == 8;

public:
    NACELLE_INLINE ConvPatches(const Images& images, const ConvPhase<Images>& phase, int row)
        : at_(images.at), phase_(phase) {
        const int lane = warp_lane();
        NACELLE_UNROLL for (int i = 0; i < tiles; ++i) {
            if constexpr (in_eights) from_[i][0] = phase.patch(row + 16 * i + lane % 16);
            else {
                NACELLE_UNROLL for (int k = 0; k < 2; ++k) from_[i][k] =
                    phase.patch(row + 16 * i + 8 * k + lane / 4);
            }
        }
    }
    NACELLE_INLINE void load(int step, uint32_t (&to)[tiles][Images::planes][4]) const {
        const int lane = warp_lane();
        if constexpr (in_eights) {
            const int offset = phase_.offset(16 * step + lane / 16 * 8);
            NACELLE_UNROLL for (int i = 0; i < tiles; ++i) {
                NACELLE_UNROLL for (int plane = 0; plane < Images::planes; ++plane)
                    load_tiles<false>(to[i][plane],
                                      at_ + plane * Images::plane + from_[i][0] + offset);
            }
        } else {
            const int offset[2] = {phase_.offset(16 * step + lane % 4 * 2),
                                   phase_.offset(16 * step + lane % 4 * 2 + 8)};
            NACELLE_UNROLL for (int i = 0; i < tiles; ++i) {
                NACELLE_UNROLL for (int plane = 0; plane < Images::planes; ++plane) {
                    NACELLE_UNROLL for (int k = 0; k < 4; ++k) to[i][plane][k] =
                        *reinterpret_cast<const uint32_t*>(at_ + plane * Images::plane +
                                                           from_[i][k % 2] + offset[k / 2]);
                }
            }
        }
    }

private:
    const uint16_t* at_;
    const ConvPhase<Images>& phase_;
    int from_[tiles][in_eights ? 1 : 2];
};

// fn(sample, pixel, channel, sums of this channel and the next) for all that the images' patches make of the weights,
// where sums begin with biases, or with nothing.
template <class Images, class Fn>
NACELLE_INLINE void each_conv_sum(const Images& images, const float* weights, const float* bias,
                                  Fn&& fn) {
    constexpr ConvProduct p = Images::product;
    constexpr int planes = Images::planes, samples = Images::samples;
    constexpr ConvCut cut{p, samples, planes};
    constexpr int quads = p.quads() > 1 ? 2 : 1, across = divided_up(p.pairs(), cut.across);
    const int lane = warp_lane(), g = lane / 4, t = lane % 4;
    const auto* fragments = reinterpret_cast<const FourWords*>(weights) + lane;
    // Warps take the items of a phase where they have left those of the one before.
    int item = int(threadIdx.x) / 32;
    NACELLE_ROLLED for (int number = 0; number < p.phases(); ++number) {
        const ConvPhase<Images> phase(number);
        const int steps = p.steps(number), items = divided_up(phase.rows, 16 * cut.down) * across;
        NACELLE_ROLLED for (; item < items; item += int(conv_threads) / 32) {
            const int row = item / across * cut.down * 16, first_pair = item % across * cut.across;
            int pair[cut.across];
            NACELLE_UNROLL for (int i = 0; i < cut.across; ++i) pair[i] =
                min(first_pair + i, p.pairs() - 1);
            ConvSums<planes, cut.down * cut.across * quads> sums;
            const auto place = [&](int down, int of_pair, int quad) {
                return (down * cut.across + of_pair) * quads + quad;
            };
            NACELLE_UNROLL for (int i = 0; i < cut.across * quads * 2; ++i) {
                const float with =
                    bias ? bias[16 * pair[i / quads / 2] + 8 * (i / 2 % quads) + 2 * t + i % 2] : 0;
                NACELLE_UNROLL for (int m = 0; m < cut.down; ++m) {
                    sums.begin(place(m, i / quads / 2, i / 2 % quads), i % 2, with);
                    sums.begin(place(m, i / quads / 2, i / 2 % quads), 2 + i % 2, with);
                }
            }
            const ConvPatches<Images, cut.down> patches(images, phase, row);
            NACELLE_TWICE for (int k = 0; k < steps; ++k) {
                uint32_t left[cut.down][planes][4];
                patches.load(k, left);
                NACELLE_UNROLL for (int i = 0; i < cut.across; ++i) {
                    uint32_t right[quads][planes][2];
                    NACELLE_UNROLL for (int plane = 0; plane < planes; ++plane) {
                        // Of 8 columns, and of the next 8.
                        const FourWords words =
                            fragments[((k * p.pairs() + pair[i]) * planes + plane) * 32];
                        NACELLE_UNROLL for (int w = 0; w < 2 * quads; ++w)
                            right[w / 2][plane][w % 2] = words.at[w];
                    }
                    NACELLE_UNROLL for (int m = 0; m < cut.down; ++m) {
                        NACELLE_UNROLL for (int q = 0; q < quads; ++q)
                            multiply_planes<planes>(sums.sum[place(m, i, q)], left[m], right[q]);
                    }
                }
                if (k % 4 == 3) sums.move();
            }
            NACELLE_UNROLL for (int m = 0; m < 2 * cut.down; ++m) {
                const int its = row + 8 * m + g;
                if (its >= phase.rows) continue;
                const int pixel = phase.pixel(its);
                NACELLE_UNROLL for (int i = 0; i < cut.across * quads; ++i) {
                    const int channel = 16 * first_pair + 8 * i + 2 * t,
                              at = place(m / 2, i / quads, i % quads);
                    if (channel < p.out)
                        fn(its % samples, pixel, channel, sums.at(at, m % 2 * 2),
                           sums.at(at, m % 2 * 2 + 1));
                }
            }
        }
        item -= items;
        fragments += steps * p.pairs() * planes * 32;
    }
}

}
