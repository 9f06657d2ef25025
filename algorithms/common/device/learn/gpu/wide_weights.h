#pragma once
#include <learn/gpu/wide_update.h>
// The second kernel of a wide network's gradient: what was seen, turned, times the slopes.

namespace learn {

// A block has a tile of 128 by 128 weights of one layer and a share of the samples, 32 of them at a time.
struct LoomForm {
    static constexpr int tile = 128, depth = 32, pitch = tile / 2 + 4;    // in words
};
// What was seen and the slopes of 32 samples, twice: one is filled while the other is used.
using LoomSides = uint32_t[2][2][LoomForm::depth * LoomForm::pitch];
template <class L> struct Loom : LoomForm {
    using B = Hall<L>;
    static consteval int down(int l) { return tiles_of(B::tiles(l) * 16, tile); }
    static consteval int across(int l) { return tiles_of(B::tiles(l + 1) * 16, tile); }
    static consteval int tiles_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += down(i) * across(i);
        return n;
    }
    static constexpr int tiles = tiles_before(L::count);
};

// Thirty-two samples' words of one side on their way from memory to shared memory: two times four for each
// thread.
struct Carrier {
    uint32_t word[2][4];

    NACELLE_INLINE void take(const uint32_t* from, size_t first, size_t end, int words,
                             int column) {
        NACELLE_UNROLL for (int k = 0; k < 2; ++k) {
            const int at = int(threadIdx.x) + 256 * k, row = at / 16, place = column + at % 16 * 4;
            const bool there = first + size_t(row) < end && place < words;
            const uint32_t* const source =
                from + (first + size_t(there ? row : 0)) * size_t(words) + (there ? place : 0);
#if defined(__CUDACC_RTC__)
            const uint4 four = *reinterpret_cast<const uint4*>(source);
            const uint32_t value[4] = {four.x, four.y, four.z, four.w};
#else
            const uint32_t value[4] = {source[0], source[1], source[2], source[3]};
#endif
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) word[k][i] = there ? value[i] : 0;
        }
    }
    NACELLE_INLINE void put(uint32_t* shared, int pitch) const {
        NACELLE_UNROLL for (int k = 0; k < 2; ++k) {
            const int at = int(threadIdx.x) + 256 * k;
            uint32_t* const to = shared + at / 16 * pitch + at % 16 * 4;
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) to[i] = word[k][i];
        }
    }
};

template <class L, int l>
NACELLE_INLINE void weave_tile(LoomSides& sides, const uint32_t* seen, const uint32_t* slopes,
                               size_t first, size_t end, int m, int n, float* gradient) {
    using B = Hall<L>;
    using W = Loom<L>;
    constexpr int in = L::width[l], out = L::width[l + 1], wide = padded<out>;
    const int lane = warp_lane(), warp = int(threadIdx.x) / 32, thread = int(threadIdx.x);
    float sum[4][2][2][4], bias[2] = {0, 0};
    NACELLE_UNROLL for (int i = 0; i < 64; ++i) sum[i / 16][i / 8 % 2][i / 4 % 2][i % 4] = 0;
    Carrier left, right;
    const auto take = [&](size_t from) {
        left.take(seen, from, end, B::words(l), m * 64);
        right.take(slopes, from, end, B::words(l + 1), n * 64);
    };
    take(first);
    int turn = 0;
    NACELLE_ROLLED for (size_t at = first; at < end; at += W::depth, turn ^= 1) {
        left.put(sides[turn][0], W::pitch);
        right.put(sides[turn][1], W::pitch);
        __syncthreads();
        if (at + W::depth < end) take(at + W::depth);
        NACELLE_UNROLL for (int k = 0; k < W::depth; k += 16) {
            uint32_t outputs[2][4];
            NACELLE_UNROLL for (int j = 0; j < 2; ++j)
                load_tiles<true>(outputs[j], sides[turn][1] + k * W::pitch + tile_corner(W::pitch) +
                                                 warp % 4 * 16 + 8 * j);
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                uint32_t inputs[4];
                load_tiles<true>(inputs, sides[turn][0] + k * W::pitch + turned_corner(W::pitch) +
                                             warp / 4 * 32 + 8 * i);
                NACELLE_UNROLL for (int j = 0; j < 2; ++j) {
                    multiply(sum[i][j][0], inputs, outputs[j][0], outputs[j][1]);
                    multiply(sum[i][j][1], inputs, outputs[j][2], outputs[j][3]);
                }
            }
        }
        if (m == 0) {
            NACELLE_UNROLL for (int row = 0; row < 8; ++row) {
                const uint32_t pair =
                    sides[turn][1][(thread / 64 * 8 + row) * W::pitch + thread % 64];
                bias[0] += low_half(pair);
                bias[1] += high_half(pair);
            }
        }
    }
    const int g = lane / 4, t = lane % 4;
    NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
        NACELLE_UNROLL for (int j = 0; j < 2; ++j) {
            NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                const int row = m * 128 + warp / 4 * 64 + 16 * i + g + k % 4 / 2 * 8;
                const int column = n * 128 + warp % 4 * 32 + 16 * j + 8 * (k / 4) + 2 * t + k % 2;
                if (row < in && column < out)
                    gradient[row * wide + column] = sum[i][j][k / 4][k % 4];
            }
        }
    }
    if (m != 0) return;
    __syncthreads();
    float* const meeting = reinterpret_cast<float*>(sides);
    meeting[2 * thread] = bias[0];
    meeting[2 * thread + 1] = bias[1];
    __syncthreads();
    const int column = n * 128 + thread;
    if (thread < 128 && column < out) {
        float all = 0;
        for (int part = 0; part < 4; ++part)
            all += meeting[2 * (64 * part + thread / 2) + thread % 2];
        gradient[in * wide + column] = all;
    }
}

// `gradient` is the slot's part for this network; `unit` counts the tiles of all its layers.
template <class L, int l = 0>
NACELLE_INLINE void weave(LoomSides& sides, const uint32_t* kept, size_t room, size_t first,
                          size_t end, int unit, float* gradient) {
    using B = Hall<L>;
    using W = Loom<L>;
    if constexpr (l < L::count) {
        if (unit >= W::tiles_before(l + 1))
            return weave<L, l + 1>(sides, kept, room, first, end, unit, gradient);
        const int at = unit - W::tiles_before(l), m = at / W::across(l), n = at % W::across(l);
        weave_tile<L, l>(sides, kept + size_t(B::seen_before(l)) * room,
                         kept + size_t(B::slopes_before(l + 1)) * room, first, end, m, n,
                         gradient + Packed<L>::template forward<l>());
    }
}
template <class E, int policy>
NACELLE_INLINE void weights_wide(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    using Room = WideRoom<E, policy>;
    using L = typename N::Actor;
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const size_t count = Minibatch<E, policy>(view, a).count, together = size_t(pupil.parts) * 32,
                 share = (count + together - 1) / together * 32, room = Room::samples(view, a);
    constexpr uint32_t tiles = uint32_t(Loom<L>::tiles);
    const uint32_t block = uint32_t(items.begin / 256), slot = block % pupil.parts,
                   unit = block / pupil.parts;
    const size_t first = slot * share, end = min(first + share, count);
    alignas(16) __shared__ LoomSides sides;
    float* const gradient = pupil.gradient + size_t(slot) * size_t(Place<E, policy>::size);
    if (unit < tiles) weave<L>(sides, pupil.wide, room, first, end, int(unit), gradient);
    else if constexpr (!N::shared)
        weave<typename N::Critic>(sides, pupil.wide + Room::first * room, room, first, end,
                                  int(unit - tiles), gradient + Packed<L>::size);
}

}
