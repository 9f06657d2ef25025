#pragma once
#include <learn/gpu/wide_update.h>
// The second kernel of a wide network's gradient: what was seen, turned, times the slopes.

namespace learn {

// A block has a piece of one layer's weights and a share of the samples. They come 32 at a time, three such
// groups on their way while one is used.
struct LoomForm {
    static constexpr int depth = 32, stages = 4, most = 16;    // tiles of 16 inputs of a piece
    static constexpr int side_words = depth * (8 * most + 4), stage_words = 2 * side_words,
                         shared_words = stages * stage_words;
};
template <class L> struct Loom : LoomForm {
    using B = Hall<L>;
    // A piece is at most 16 tiles of inputs by 8 of outputs, or 8 by 16; pieces of a layer are alike.
    static consteval int down(int l) { return tiles_of(B::tiles(l), most); }
    static consteval int tall(int l) { return tiles_of(B::tiles(l), down(l)); }
    static consteval int across(int l) {
        return tiles_of(B::tiles(l + 1), tall(l) > most / 2 ? most / 2 : most);
    }
    static consteval int broad(int l) { return tiles_of(B::tiles(l + 1), across(l)); }
    static consteval int pieces_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += down(i) * across(i);
        return n;
    }
    static constexpr int pieces = pieces_before(L::count);
    // How the eight warps share a piece: so many of them beside the inputs that each has least to do, and then
    // least to read.
    static consteval int warps_down(int l) {
        int best = 1, least = 1 << 30;
        for (int n = 1; n <= B::warps; n *= 2) {
            const int i = tiles_of(tall(l), n), j = tiles_of(broad(l), B::warps / n);
            const int cost = 100 * i * j + i + j;
            if (cost < least) best = n;
            least = cost < least ? cost : least;
        }
        return best;
    }
};

// Thirty-two samples' tiles of one level, from memory to shared memory; zeros behind the last sample or tile.
template <int tiles, int words>
NACELLE_INLINE void carry(uint32_t* to, const uint32_t* from, size_t first, size_t end,
                          int column) {
    const int warp = int(threadIdx.x) / 32, place = 4 * warp_lane();
    if (place >= 8 * tiles) return;
    NACELLE_UNROLL for (int k = 0; k < LoomForm::depth; k += 8) {
        const bool there = first + size_t(warp + k) < end && column + place < words;
        const uint32_t* const source =
            there ? from + (first + size_t(warp + k)) * size_t(words) + column + place : from;
        bring_async(to + (warp + k) * (8 * tiles + 4) + place, source, there);
    }
}

// One piece's sums in the registers of a block.
template <class L, int l> class Weaver {
    using B = Hall<L>;
    using W = Loom<L>;
    static constexpr int in = L::width[l], out = L::width[l + 1], tall = W::tall(l),
                         broad = W::broad(l), pitch_seen = 8 * tall + 4,
                         pitch_slopes = 8 * broad + 4, warps_down = W::warps_down(l),
                         warps_across = B::warps / warps_down,
                         own_tall = tiles_of(tall, warps_down),
                         own_broad = tiles_of(broad, warps_across),
                         own_biases = tiles_of(own_broad, warps_down);

public:
    // Piece m down and n across.
    NACELLE_INLINE Weaver(int m, int n)
        : shared_(block_memory<W::shared_words>()),
          m_(m),
          n_(n),
          row_(int(threadIdx.x) / 32 / warps_across * own_tall),
          column_(int(threadIdx.x) / 32 % warps_across * own_broad) {
        NACELLE_UNROLL for (int i = 0; i < own_tall * own_broad; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 8; ++k)
                sum_[i / own_broad][i % own_broad][k / 4][k % 4] = 0;
        }
        NACELLE_UNROLL for (int i = 0; i < 4 * own_biases; ++i) bias_[i / 4][i % 4] = 0;
    }
    NACELLE_INLINE void sum(const uint32_t* seen, const uint32_t* slopes, size_t first,
                            size_t end) {
        NACELLE_UNROLL for (int i = 0; i + 1 < W::stages; ++i)
            bring(seen, slopes, first + size_t(i * W::depth), end, i);
        int stage = 0;
        NACELLE_ROLLED for (size_t at = first; at < end; at += W::depth) {
            await_groups<W::stages - 2>();
            __syncthreads();    // all is there, and what comes next takes the place of what all have used
            bring(seen, slopes, at + size_t((W::stages - 1) * W::depth), end,
                  (stage + W::stages - 1) % W::stages);
            NACELLE_UNROLL for (int k = 0; k < W::depth; k += 16) products(stage, k);
            stage = (stage + 1) % W::stages;
        }
    }
    // `gradient` is where the slot has this layer.
    NACELLE_INLINE void store(float* gradient) const {
        constexpr int wide = padded<out>;
        const int g = warp_lane() / 4, t = warp_lane() % 4;
        NACELLE_UNROLL for (int j = 0; j < own_broad; ++j) {
            const int tile = n_ * broad + column_ + j;
            if (column_ + j >= broad || tile >= B::tiles(l + 1)) continue;
            NACELLE_UNROLL for (int i = 0; i < 2 * own_tall; ++i) {
                const int row =
                    column_at(16 * (m_ * tall + row_ + i / 2) + g + i % 2 * 8, B::tiles(l));
                if (row_ + i / 2 >= tall || row >= in) continue;
                const auto& sum = sum_[i / 2][j];
                const int k = i % 2 * 2;
                float* const to = gradient + row * wide;
                // Of two neighbouring tiles a lane has four columns side by side, of a last one twice two.
                if (const int column = 16 * (tile & ~1) + 8 * t + tile % 2 * 4;
                    tile / 2 * 2 + 1 < B::tiles(l + 1)) {
                    if (column < wide)
                        put<4>(to + column, {sum[0][k], sum[0][k + 1], sum[1][k], sum[1][k + 1]});
                } else {
                    NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
                        const int its = 16 * tile + t % 2 * 8 + 4 * half + t / 2 * 2;
                        if (its < wide) put<2>(to + its, {sum[half][k], sum[half][k + 1]});
                    }
                }
            }
        }
        if (m_ != 0 || g != 0) return;
        NACELLE_UNROLL for (int u = 0; u < own_biases; ++u) {
            const int j = u * warps_down + row_ / own_tall;
            NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
                const int column =
                    column_at(16 * (n_ * broad + column_ + j) + 8 * half + 2 * t, B::tiles(l + 1));
                if (j < own_broad && column_ + j < broad && column < wide)
                    put<2>(gradient + in * wide + column,
                           {bias_[u][2 * half], bias_[u][2 * half + 1]});
            }
        }
    }

private:
    NACELLE_INLINE void bring(const uint32_t* seen, const uint32_t* slopes, size_t first,
                              size_t end, int stage) const {
        uint32_t* const to = shared_ + stage * W::stage_words;
        if (first < end) {
            carry<tall, B::words(l)>(to, seen, first, end, 8 * tall * m_);
            carry<broad, B::words(l + 1)>(to + W::side_words, slopes, first, end, 8 * broad * n_);
        }
        close_group();
    }
    // Of sixteen samples; a warp beyond the piece's edge repeats a tile and throws it away.
    NACELLE_INLINE void products(int stage, int sample) {
        const uint32_t* const seen =
            shared_ + stage * W::stage_words + sample * pitch_seen + turned_corner(pitch_seen);
        const uint32_t* const slopes = shared_ + stage * W::stage_words + W::side_words +
                                       sample * pitch_slopes + tile_corner(pitch_slopes);
        uint32_t outputs[own_broad][4];
        NACELLE_UNROLL for (int j = 0; j < own_broad; ++j)
            load_tiles<true>(outputs[j], slopes + 8 * min(column_ + j, broad - 1));
        NACELLE_UNROLL for (int i = 0; i < own_tall; ++i) {
            uint32_t inputs[4];
            load_tiles<true>(inputs, seen + 8 * min(row_ + i, tall - 1));
            NACELLE_UNROLL for (int j = 0; j < own_broad; ++j) {
                multiply(sum_[i][j][0], inputs, outputs[j][0], outputs[j][1]);
                multiply(sum_[i][j][1], inputs, outputs[j][2], outputs[j][3]);
            }
        }
        add_biases(outputs);
    }
    // The biases' sums: warps beside the same outputs take turns.
    NACELLE_INLINE void add_biases(const uint32_t (&outputs)[own_broad][4]) {
        NACELLE_UNROLL for (int u = 0; u < own_biases; ++u) {
            uint32_t mine[4];
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                mine[k] = outputs[u * warps_down][k];
                NACELLE_UNROLL for (int j = 1; j < warps_down && u * warps_down + j < own_broad;
                                    ++j) {
                    if (row_ == j * own_tall) mine[k] = outputs[u * warps_down + j][k];
                }
            }
            add_slopes(bias_[u], mine);
        }
    }
    template <int count> struct alignas(4 * count) Beside { float at[count]; };
    template <int count> static NACELLE_INLINE void put(float* to, const Beside<count>& numbers) {
        *reinterpret_cast<Beside<count>*>(to) = numbers;
    }

    uint32_t* shared_;
    int m_, n_, row_, column_;
    float sum_[own_tall][own_broad][2][4], bias_[own_biases][4];
};

// `gradient` is the slot's part for this network; `piece` counts those of all its layers.
template <class L, int l = 0>
NACELLE_INLINE void weave(const uint32_t* kept, size_t room, size_t first, size_t end, int piece,
                          float* gradient) {
    using B = Hall<L>;
    using W = Loom<L>;
    if constexpr (l < L::count) {
        if (piece >= W::pieces_before(l + 1))
            return weave<L, l + 1>(kept, room, first, end, piece, gradient);
        const int at = piece - W::pieces_before(l);
        Weaver<L, l> weaver(at / W::across(l), at % W::across(l));
        weaver.sum(kept + size_t(B::seen_before(l)) * room,
                   kept + size_t(B::slopes_before(l + 1)) * room, first, end);
        weaver.store(gradient + Packed<L>::template forward<l>());
    }
}
// Blocks of one slot are neighbours: together they read its samples from memory once.
template <class E, int policy>
NACELLE_INLINE void weights_wide(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    using Room = WideRoom<E, policy>;
    using L = typename N::Actor;
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const size_t count = Minibatch<E, policy>(view, a).count,
                 together = size_t(pupil.parts) * LoomForm::depth,
                 share = (count + together - 1) / together * LoomForm::depth,
                 room = Room::samples(view, a);
    constexpr int own = Loom<L>::pieces,
                  all = own + (N::shared ? 0 : Loom<typename N::Critic>::pieces);
    const uint32_t block = uint32_t(items.begin / 256), slot = block / uint32_t(all);
    const int piece = int(block % uint32_t(all));
    const size_t first = slot * share, end = min(first + share, count);
    float* const gradient = pupil.gradient + size_t(slot) * size_t(Place<E, policy>::size);
    if (piece < own) weave<L>(pupil.wide, room, first, end, piece, gradient);
    else if constexpr (!N::shared)
        weave<typename N::Critic>(pupil.wide + Room::first * room, room, first, end, piece - own,
                                  gradient + Packed<L>::size);
}

}
