#pragma once
#include <learn/gpu/dense/products.h>
#include <learn/layout/conv_tiles.h>
// What a block of convolutions has of its samples in shared memory: images, and rows of what comes of them.

namespace learn {

struct alignas(16) EightNumbers {
    uint16_t at[chunk_numbers];
};

// fn(sample, plane, chunk, its place in the matrix) for chunks [begin, end) of some samples' rows. What lies side by side
// in a tile is read together: 128 bytes of one sample after the other. A thread stays with its sample.
template <int samples, int planes, int begin, int end, class Fn>
NACELLE_INLINE void each_chunk(const TiledMatrix& matrix, uint32_t first, Fn&& fn) {
    constexpr uint32_t line = tile_side / chunk_numbers, first_line = uint32_t(begin) / line,
                       together = conv_threads / line / samples;
    const uint32_t within = threadIdx.x % line,
                   its_line = first_line + threadIdx.x / line / samples;
    const int sample = int(threadIdx.x / line % samples);
    uint16_t* const row =
        matrix.at + place_in_tiles(first + uint32_t(sample), chunk_numbers * within, matrix.across);
    NACELLE_UNROLL for (int plane = 0; plane < planes; ++plane) {
        uint16_t* at = row + size_t(plane) * matrix.plane + size_t(its_line) * tile_numbers;
        NACELLE_ROLLED for (uint32_t chunk = its_line * line + within; chunk < uint32_t(end);
                            chunk += together * line) {
            if (chunk >= uint32_t(begin))
                fn(sample, plane, chunk, reinterpret_cast<EightNumbers*>(at));
            at += together * tile_numbers;
        }
    }
}
// The same chunks come nearer, a line of a tile for each thread.
template <int samples, int planes, int begin, int end>
NACELLE_INLINE void bring_chunks_near(const TiledMatrix& matrix, uint32_t first) {
    constexpr int line = int(tile_side / chunk_numbers), first_line = begin / line,
                  lines = divided_up(end, line) - first_line;
    NACELLE_ROLLED for (int i = int(threadIdx.x); i < planes * lines * samples;
                        i += int(conv_threads))
        bring_near(matrix.at + size_t(i / samples / lines) * matrix.plane +
                   place_in_tiles(first + uint32_t(i % samples),
                                  uint32_t(first_line + i / samples % lines) * tile_side,
                                  matrix.across));
}
// What bring_async has begun to bring is there, for all threads.
NACELLE_INLINE void await_chunks() {
    close_group();
    await_groups<0>();
    __syncthreads();
}

template <int numbers> NACELLE_INLINE void clear_numbers(uint16_t* at) {
    static_assert(numbers % 8 == 0);
    NACELLE_FOURFOLD for (int i = int(threadIdx.x); i < numbers / 8;
                          i += int(conv_threads)) reinterpret_cast<EightNumbers*>(at)[i] =
        EightNumbers{};
}
// A chunk of those numbers of a row below `end` to where place(number) says. `whole`: eight of them stay together.
template <bool whole, uint32_t end, class Place>
NACELLE_INLINE void scatter_chunk(uint16_t* to, uint32_t chunk, const EightNumbers* eight,
                                  Place&& place) {
    if constexpr (whole) bring_async(to + place(8 * chunk), eight, true);
    else {
        const EightNumbers values = *eight;
        NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
            const uint32_t number = 8 * chunk + uint32_t(k);
            if (number < end) to[place(number)] = values.at[k];
        }
    }
}

// The images of some samples in shared memory, plane by plane.
template <int policy, int l, bool back, int its_samples> struct ConvImages {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr ConvProduct product =
        back ? backward_of(encoder.layer[l]) : forward_of(encoder.layer[l]);
    static constexpr int samples = its_samples, planes = Spec<policy>::planes,
                         pitch = product.pitch(samples), numbers = product.image_numbers(samples),
                         plane = samples * numbers, end = planes * plane;
    // Whether the numbers of a row are read as an observation's images, and whether these are codes.
    static constexpr bool of_observation = !back && l == 0,
                          of_codes = of_observation && encoder.codes > 0;
    // Whether something is left between and around the pixels that are brought, or in one.
    static constexpr bool has_zeros = of_codes || product.pixel() > product.channels ||
                                      product.rows.wide > product.rows.length ||
                                      product.columns.wide > product.columns.length;
    uint16_t* at;

    NACELLE_INLINE void clear() const { clear_numbers<end>(at); }
    // Brings the images of the rows from `first` on; what lies between and around their pixels stays zero.
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first) const {
        each_chunk<samples, planes, begin_chunk(), end_chunk()>(
            matrix, first,
            [&](int sample, int its_plane, uint32_t chunk, const EightNumbers* eight) {
                uint16_t* const to = at + its_plane * plane + sample * numbers;
                if constexpr (of_observation) {
                    const EightNumbers values = *eight;
                    NACELLE_UNROLL for (int k = 0; k < 8; ++k)
                        put_number(to, int(8 * chunk) + k, values.at[k], its_plane);
                } else
                    scatter_chunk<product.channels % 8 == 0, uint32_t(image_numbers())>(
                        to, chunk, eight, [](uint32_t number) { return place(number); });
            });
    }
    // From a pixel to the one that lies so many rows and columns further.
    static NACELLE_INLINE int offset(int rows, int columns) {
        return (rows * product.columns.wide + columns) * pitch;
    }
    // To where the patch of a position begins.
    static NACELLE_INLINE int patch(int row, int column) {
        return offset(row * product.rows.stride, column * product.columns.stride);
    }

    static constexpr int begin_chunk() { return of_observation ? encoder.image[0].first / 8 : 0; }
    static constexpr int end_chunk() {
        const RowPart& last = encoder.image[of_observation ? encoder.images - 1 : 0];
        return divided_up(of_observation ? last.first + last.count : image_numbers(), 8);
    }

private:
    static constexpr int image_numbers() {
        return product.rows.length * product.columns.length * product.channels;
    }
    static NACELLE_INLINE uint32_t place(uint32_t number) {
        return pixel(number / product.channels) + number % product.channels;
    }
    static NACELLE_INLINE uint32_t pixel(uint32_t which) {
        constexpr ConvSide rows = product.rows, columns = product.columns;
        const uint32_t row = which / columns.length;
        return uint32_t(offset(rows.first, columns.first)) +
               (row * columns.wide + which % columns.length) * pitch;
    }
    static NACELLE_INLINE void put_number(uint16_t* to, int number, uint16_t value, int plane) {
        [&]<int... i>(Ints<i...>) { (put_number_of<i>(to, number, value, plane), ...); }
        (count_to<encoder.images>{});
    }
    template <int i>
    static NACELLE_INLINE void put_number_of(uint16_t* to, int number, uint16_t value, int plane) {
        constexpr RowPart part = encoder.image[i];
        constexpr int codes = encoder.codes;
        const int at = number - part.first;
        if (at < 0 || at >= part.count) return;
        const int channel = encoder.first_channel(i) + at % part.channels;
        uint16_t* const there = to + pixel(uint32_t(at / part.channels));
        if constexpr (codes > 0) {
            // The first plane of a small whole number is all of it.
            constexpr uint16_t one = 0x3f80;
            const float code = low_half(value);
            if (plane == 0 && code >= 0 && code < float(codes) && code == float(int(code)))
                there[channel * codes + int(code)] = one;
        } else there[channel] = value;
    }
};

// Rows of results in shared memory, on their way from or to a matrix.
template <int width, int planes, int samples> struct ConvRows {
    static constexpr int numbers = conv_row_numbers(width), end = planes * samples * numbers;
    uint16_t* at;

    NACELLE_INLINE uint16_t* row(int sample, int plane) const {
        return at + (plane * samples + sample) * numbers;
    }
    // What lies behind a row's last number.
    NACELLE_INLINE void clear_ends() const {
        constexpr int left = padded_to(width, 8) - width;
        if constexpr (left > 0)
            for (int i = int(threadIdx.x); i < samples * planes * left; i += int(conv_threads))
                row(0, 0)[i / left * numbers + width + i % left] = 0;
    }
    NACELLE_INLINE void leave(const TiledMatrix& matrix, uint32_t first) const {
        each_chunk<samples, planes, 0, divided_up(width, 8)>(
            matrix, first, [&](int sample, int plane, uint32_t chunk, EightNumbers* there) {
                *there = reinterpret_cast<const EightNumbers*>(row(sample, plane))[chunk];
            });
    }
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t first) const {
        each_chunk<samples, planes, 0, divided_up(width, 8)>(
            matrix, first, [&](int sample, int plane, uint32_t chunk, const EightNumbers* there) {
                bring_async(row(sample, plane) + 8 * chunk, there, true);
            });
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
    template <bool in_pairs>
    NACELLE_INLINE Planes<planes> get(int sample, int column, bool both) const {
        Planes<planes> pair;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const from = row(sample, p) + column;
            if constexpr (in_pairs) pair.at[p] = *reinterpret_cast<const uint32_t*>(from);
            else pair.at[p] = uint32_t(from[0]) | (both ? uint32_t(from[1]) << 16 : 0u);
        }
        return pair;
    }
};

}
