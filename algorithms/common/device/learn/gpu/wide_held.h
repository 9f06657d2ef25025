#pragma once
#include <learn/gpu/wide_hall.h>
// Samples through the layers of a wide network and back in the registers of a warp, 16 at a time, each warp on
// its own: all weights lie in shared memory, and what a layer saw is left in memory as it comes out.

namespace learn {

template <class E, int policy, class L, Part part>
class HeldTeacher : public WideRows<E, policy, L, part> {
    using R = WideRows<E, policy, L, part>;
    using typename R::B;
    using typename R::F;
    using S = Shelf<L>;
    using T = Trail<L>;
    using Seen = uint32_t[T::tiles][4];

public:
    NACELLE_INLINE HeldTeacher(const Arguments& a, uint32_t* kept, size_t room) : R(a, kept, room) {
        NACELLE_FOURFOLD for (int i = int(threadIdx.x); i < S::words;
                              i += B::threads) this->shared_[i] = 0;
        __syncthreads();
        fill<0>();
        __syncthreads();
    }
    // The samples that were looked up last; then those from number `next` on.
    NACELLE_INLINE void teach(const View<E>& view, const Minibatch<E, policy>& batch,
                              uint64_t next) {
        Seen seen;
        uint32_t* const rows = this->own_rows();
        __syncwarp();
        this->settle();
        gather_rows<R::width>(rows, B::pitch_in, this->at_, this->memory_);
        __syncwarp();
        fetch_tiles<B::tiles(0)>(seen, rows, B::pitch_in);
        __syncwarp();
        leave_level<B::tiles(0)>(this->template rows_at<0>(B::seen_before(0)), seen, zero_);
        forward<0>(seen);
        this->judge();
        uint32_t slope[B::tiles(L::count)][4];
        fetch_tiles<B::tiles(L::count)>(slope, rows, B::pitch_slopes);
        leave_level<B::tiles(L::count)>(
            this->template rows_at<L::count>(B::slopes_before(L::count)), slope, zero_);
        const size_t place = this->place_;
        this->look_up(view, batch, next);
        this->bring_obs_near();
        const size_t next_place = this->place_;
        this->place_ = place;
        backward<L::count - 1>(seen, slope);
        this->place_ = next_place;
    }

private:
    // From the order of fragments to rows.
    template <int l> NACELLE_INLINE void fill() const {
        if constexpr (l < L::count) {
            const uint32_t* const from = this->prepared_ + F::tiles_before(l) * F::words_in_tile;
            uint32_t* const to = this->shared_ + S::before(l);
            constexpr int words = F::tiles(l) * F::words_in_tile, together = 8;
            for (int i = int(threadIdx.x); i < words; i += together * B::threads) {
                uint32_t word[together];    // all on their way before the first is used
                NACELLE_UNROLL for (int k = 0; k < together; ++k) word[k] =
                    from[min(i + k * B::threads, words - 1)];
                NACELLE_UNROLL for (int k = 0; k < together; ++k) {
                    const int at = i + k * B::threads, tile = at / F::words_in_tile,
                              lane = at % F::words_in_tile / 2,
                              row = tile % F::out_tiles(l) * 8 + lane / 4;
                    if (at < words)
                        to[row * S::pitch(l) + tile / F::out_tiles(l) * 8 + lane % 4 + at % 2 * 4] =
                            word[k];
                }
            }
            const uint32_t* const bias = this->prepared_ + F::bias_start + F::bias_before(l);
            for (int i = int(threadIdx.x); i < 8 * F::out_tiles(l); i += B::threads)
                this->shared_[S::bias_before(l) + i] = bias[i];
            fill<l + 1>();
        }
    }
    // Two tiles of 16 outputs at a time, of each all of their inputs.
    template <int l> NACELLE_INLINE void forward(Seen& seen) const {
        constexpr int in = B::tiles(l), out = B::tiles(l + 1), pitch = S::pitch(l),
                      from = T::before(l);
        constexpr bool last = l + 1 == L::count;
        const uint32_t* const weights = this->shared_ + S::before(l) + turned_corner(pitch);
        const float* const bias =
            reinterpret_cast<const float*>(this->shared_ + S::bias_before(l)) +
            2 * (warp_lane() % 4);
        in_twos<out>([&]<int some>(int first) {
            float c[1][2 * some][4];
            begin_tiles(c, bias + 16 * first);
            NACELLE_UNROLL for (int k = 0; k < in; ++k) {
                NACELLE_UNROLL for (int j = 0; j < some; ++j) {
                    uint32_t w[4];
                    load_tiles<false>(w, weights + 16 * (first + j) * pitch + 8 * k);
                    multiply(c[0][2 * j], seen[from + k], w[0], w[1]);
                    multiply(c[0][2 * j + 1], seen[from + k], w[2], w[3]);
                }
            }
            if constexpr (last) {
                NACELLE_UNROLL for (int j = 0; j < 2 * some; ++j) {
                    if (2 * first + j < F::out_tiles(l))
                        leave_outputs(this->outputs(), B::pitch_out, 2 * first + j, c[0][j]);
                }
            } else {
                auto* const to = seen + T::before(l + 1) + first;
                NACELLE_UNROLL for (int j = 0; j < 2 * some; ++j) {
                    using C = PairCurve<L::activation>;
                    to[j / 2][j % 2 * 2] = C::at(c[0][j][0], c[0][j][1]);
                    to[j / 2][j % 2 * 2 + 1] = C::at(c[0][j][2], c[0][j][3]);
                }
                leave_wide<some>(this->template rows_at<l + 1>(B::seen_before(l + 1)),
                                 B::words(l + 1), first, to, zero_);
            }
        });
        if constexpr (!last) forward<l + 1>(seen);
    }
    // From the slopes along layer l's outputs to those along its inputs, which take the place of what was seen.
    template <int l, int tiles>
    NACELLE_INLINE void backward(Seen& seen, const uint32_t (&slope)[tiles][4]) const {
        if constexpr (l > 0) {
            constexpr int in = B::tiles(l), pitch = S::pitch(l);
            const uint32_t* const weights = this->shared_ + S::before(l) + tile_corner(pitch);
            uint32_t next[in][4];
            in_twos<in>([&]<int some>(int first) {
                float c[1][2 * some][4];
                begin_tiles(c);
                NACELLE_UNROLL for (int k = 0; k < tiles; ++k) {
                    NACELLE_UNROLL for (int j = 0; j < some; ++j) {
                        uint32_t w[4];
                        load_tiles<true>(w, weights + 16 * k * pitch + 8 * (first + j));
                        multiply(c[0][2 * j], slope[k], w[0], w[1]);
                        multiply(c[0][2 * j + 1], slope[k], w[2], w[3]);
                    }
                }
                NACELLE_UNROLL for (int j = 0; j < 2 * some; ++j) {
                    const uint32_t* const out = seen[T::before(l) + first + j / 2] + j % 2 * 2;
                    uint32_t* const to = next[first + j / 2] + j % 2 * 2;
                    to[0] = R::bent(out[0], c[0][j][0], c[0][j][1]);
                    to[1] = R::bent(out[1], c[0][j][2], c[0][j][3]);
                }
                leave_wide<some>(this->template rows_at<l>(B::slopes_before(l)), B::words(l), first,
                                 next + first, zero_);
            });
            backward<l - 1, in>(seen, next);
        }
    }

    uint32_t zero_ = hidden_zero();
};

}
