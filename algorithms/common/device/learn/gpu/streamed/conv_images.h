#pragma once
#include <learn/conv_tiles.h>
#include <learn/gpu/streamed/products.h>
// What a block of convolutions has of its samples in shared memory.

namespace learn {

struct alignas(16) EightNumbers {
    uint16_t at[chunk_numbers];
};
struct alignas(8) FragmentWords {
    uint32_t at[2];
};

// The images of some samples in shared memory, plane by plane.
template <int policy, int l, bool back> struct ConvImages {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr ConvProduct product =
        back ? backward_of(encoder.layer[l]) : forward_of(encoder.layer[l]);
    static constexpr int planes = Spec<policy>::planes, numbers = product.image_numbers();
    // Whether the numbers of a row are read as an observation's images.
    static constexpr bool of_observation = !back && l == 0;
    uint16_t* at;

    NACELLE_INLINE uint16_t* image(int sample, int plane) const {
        return at + (sample * planes + plane) * numbers;
    }
    NACELLE_INLINE void clear(int samples) const {
        for (int i = int(threadIdx.x); i < samples * planes * numbers / 8; i += int(conv_threads))
            reinterpret_cast<EightNumbers*>(at)[i] = EightNumbers{};
    }
    // Brings the images of the rows from `first` on; what lies between and around their pixels stays zero.
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first, int samples) const {
        constexpr int begin = of_observation ? encoder.image[0].first / 8 : 0,
                      end = of_observation
                                ? (last_of_images() + 7) / 8
                                : (product.rows * product.columns * product.channels + 7) / 8,
                      chunks = end - begin;
        for (int i = int(threadIdx.x); i < samples * planes * chunks; i += int(conv_threads)) {
            const int chunk = begin + i % chunks, plane = i / chunks % planes,
                      sample = i / chunks / planes;
            const auto eight = *reinterpret_cast<const EightNumbers*>(
                matrix.at + size_t(plane) * matrix.plane +
                place_in_tiles(first + uint32_t(sample), uint32_t(8 * chunk), matrix.across));
            uint16_t* const to = image(sample, plane);
            NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                const int number = 8 * chunk + k;
                if constexpr (of_observation) put_number(to, number, eight.at[k], plane);
                else if (number < product.rows * product.columns * product.channels)
                    to[pixel(number / product.channels) + number % product.channels] = eight.at[k];
            }
        }
    }

private:
    static constexpr int last_of_images() {
        const RowPart& last = encoder.image[encoder.images - 1];
        return last.first + last.count;
    }
    static NACELLE_INLINE int pixel(int which) {
        const int row = which / product.columns * product.spread + product.first_row,
                  column = which % product.columns * product.spread + product.first_column;
        return (row * product.wide_columns + column) * product.pitch();
    }
    static NACELLE_INLINE void put_number(uint16_t* to, int number, uint16_t value, int plane) {
        [&]<int... i>(Ints<i...>) { (put_number_of<i>(to, number, value, plane), ...); }
        (count_to<encoder.images>{});
    }
    template <int i>
    static NACELLE_INLINE void put_number_of(uint16_t* to, int number, uint16_t value, int plane) {
        constexpr RowPart part = encoder.image[i];
        constexpr int channel = encoder.first_channel(i), codes = encoder.codes;
        const int at = number - part.first;
        if (at < 0 || at >= part.count) return;
        uint16_t* const there = to + pixel(at / part.channels);
        if constexpr (codes > 0) {
            // The first plane of a small whole number is all of it.
            constexpr uint16_t one = 0x3f80;
            const float code = low_half(value);
            for (int k = 0; k < codes; ++k)
                there[(channel + at % part.channels) * codes + k] =
                    plane == 0 && code == float(k) ? one : uint16_t(0);
        } else there[channel + at % part.channels] = value;
    }
};

}
