#pragma once
#include <learn/gpu/wide_held.h>
// The gradient of one minibatch on tensor cores for wide networks, in two kernels. The first takes 128
// samples a block through the layers and back and leaves in memory what each layer saw and the slopes behind
// it. The second multiplies the two, each block for a tile of weights and a share of the samples.

namespace learn {

// Where not all weights fit into shared memory, or samples into registers: one layer's weights at a time, and
// what goes into it from memory.
template <class E, int policy, class L, Part part>
class WideTeacher : public WideRows<E, policy, L, part> {
    using R = WideRows<E, policy, L, part>;
    using typename R::B;
    using typename R::F;

public:
    NACELLE_INLINE WideTeacher(const Arguments& a, uint32_t* kept, size_t room)
        : R(a, kept, room) {}
    // The samples that were looked up last; then those from number `next` on.
    NACELLE_INLINE void teach(const View<E>& view, const Minibatch<E, policy>& batch,
                              uint64_t next) {
        uint32_t* const rows = this->own_rows();
        __syncthreads();
        this->settle();
        gather_rows<R::width>(rows, B::pitch_in, this->at_, this->memory_);
        __syncwarp();
        keep<0>(rows, B::pitch_in, B::seen_before(0));
        forward<0>();
        this->judge();
        keep<L::count>(rows, B::pitch_slopes, B::slopes_before(L::count));
        backward<L::count - 1>();
        this->look_up(view, batch, next);
        this->bring_obs_near();
    }

private:
    template <int level>
    NACELLE_INLINE void keep(const uint32_t* rows, int pitch, int before) const {
        uint32_t tile[B::tiles(level)][4];
        fetch_tiles<B::tiles(level)>(tile, rows, pitch);
        leave_level<B::tiles(level)>(this->template rows_at<level>(before), tile);
    }
    // The tiles of a layer's weights into shared memory, by all threads.
    NACELLE_INLINE void stage(int first_word, int count) const {
        __syncthreads();
        const uint32_t* const from = this->prepared_ + first_word;
        for (int i = 4 * int(threadIdx.x); i < count; i += 4 * B::threads)
            bring_async(this->shared_ + i, from + i, true);
        close_group();
        await_groups<0>();
        __syncthreads();
    }
    template <int l> NACELLE_INLINE void forward() const {
        stage(F::tiles_before(l) * 64, F::tiles(l) * 64);
        constexpr int out = F::out_tiles(l);
        uint32_t in[1][B::tiles(l)][4];
        take_level<B::tiles(l)>(in[0], this->template rows_at<l>(B::seen_before(l)));
        const WeightsInMemory weights{this->shared_ + 2 * warp_lane()};
        const float* const bias = reinterpret_cast<const float*>(this->prepared_) + F::bias_start +
                                  F::bias_before(l) + 2 * (warp_lane() % 4);
        const auto products = [&]<int together>(float(&c)[1][together][4], int first) {
            begin_tiles(c, bias + 8 * first);
            tile_products<B::tiles(l)>(c, in, 0, weights, first, out);
        };
        if constexpr (l + 1 == L::count) {
            constexpr int together = tiles_at_once(out);
            NACELLE_ROLLED for (int first = 0; first < out; first += together) {
                float c[1][together][4];
                products(c, first);
                NACELLE_UNROLL for (int k = 0; k < together; ++k)
                    leave_outputs(this->outputs(), B::pitch_out, first + k, c[0][k]);
            }
        } else {
            roll_twos<B::tiles(l + 1)>([&]<int some>(int first) {
                float c[1][2 * some][4];
                products(c, 2 * first);
                uint32_t y[some][4];
                NACELLE_UNROLL for (int j = 0; j < 2 * some; ++j) {
                    using C = PairCurve<L::activation>;
                    y[j / 2][j % 2 * 2] = C::at(c[0][j][0], c[0][j][1]);
                    y[j / 2][j % 2 * 2 + 1] = C::at(c[0][j][2], c[0][j][3]);
                }
                leave_wide<some>(this->template rows_at<l + 1>(B::seen_before(l + 1)),
                                 B::words(l + 1), first, y);
            });
            forward<l + 1>();
        }
    }
    template <int l> NACELLE_INLINE void backward() const {
        if constexpr (l > 0) {
            stage(F::turned_start + F::turned_before(l) * 64, F::turned_tiles(l) * 64);
            uint32_t slope[1][B::tiles(l + 1)][4];
            take_level<B::tiles(l + 1)>(slope[0],
                                        this->template rows_at<l + 1>(B::slopes_before(l + 1)));
            const WeightsInMemory turned{this->shared_ + 2 * warp_lane()};
            roll_twos<B::tiles(l)>([&]<int some>(int first) {
                uint32_t y[some][4];
                take_wide<some>(y, this->template rows_at<l>(B::seen_before(l)), B::words(l),
                                first);
                float c[1][2 * some][4];
                begin_tiles(c);
                tile_products<B::tiles(l + 1)>(c, slope, 0, turned, 2 * first, 2 * B::tiles(l));
                NACELLE_UNROLL for (int j = 0; j < 2 * some; ++j) {
                    uint32_t* const at = y[j / 2] + j % 2 * 2;
                    at[0] = R::bent(at[0], c[0][j][0], c[0][j][1]);
                    at[1] = R::bent(at[1], c[0][j][2], c[0][j][3]);
                }
                leave_wide<some>(this->template rows_at<l>(B::slopes_before(l)), B::words(l), first,
                                 y);
            });
            backward<l - 1>();
        }
    }
};

// The room of a policy's networks, in words of a sample: of the first one, and of both.
template <class E, int policy> struct WideRoom {
    using N = Networks<E, policy>;
    static constexpr size_t first = size_t(Hall<typename N::Actor>::sample_words);
    static NACELLE_INLINE size_t samples(const View<E>& view, const Arguments& a) {
        const size_t most = samples_of<E, policy>(view, a) / a.minibatches + 1;
        return (most + 127) / 128 * 128;
    }
};
template <class E, int policy>
NACELLE_INLINE void gradient_wide(const View<E>& view, const Arguments& a, Items items) {
    using Room = WideRoom<E, policy>;
    with_network<E, policy>(a, uint32_t(items.begin / 256), [&]<class L, Part part>(uint32_t slot) {
        const Minibatch<E, policy> batch(view, a);
        const size_t room = Room::samples(view, a);
        using Teacher = Either<Hall<L>::at_once, HeldTeacher<E, policy, L, part>,
                               WideTeacher<E, policy, L, part>>;
        Teacher teacher(a, a.pupil[policy].wide + (part == Part::critic ? Room::first * room : 0),
                        room);
        constexpr uint64_t together = uint64_t(Hall<L>::samples);
        const uint64_t stride = a.pupil[policy].parts * together;
        teacher.look_up(view, batch, slot * together);
        for (uint64_t first = slot * together; first < batch.count; first += stride)
            teacher.teach(view, batch, first + stride);
        teacher.store(slot);
    });
}

}
