#pragma once
#include <learn/gpu/warp_update.h>
// The gradient of one minibatch on tensor cores for wide networks, in two kernels. The first takes 128
// samples a block through the layers and back, one layer's weights in shared memory at a time, and leaves
// in memory what each layer saw and the slopes behind it. The second multiplies the two, each block for a
// tile of 128 by 128 weights and a share of the samples.

namespace learn {

template <class L> struct Hall {
    using F = Fragments<L>;
    static constexpr int warps = 8, threads = 32 * warps, samples = warp_rows * warps;
    static consteval int tiles(int l) { return tiles_of(L::width[l], 16); }
    static consteval int words(int l) { return 8 * tiles(l); }    // of a sample at level l

    // In memory, sample by sample at each level: what is seen, then slopes from level 1 on.
    static consteval int seen_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += words(i);
        return n;
    }
    static consteval int slopes_before(int l) {
        int n = seen_before(L::count);
        for (int i = 1; i < l; ++i) n += words(i);
        return n;
    }
    static constexpr int sample_words = slopes_before(L::count + 1);

    // In shared memory: weights of a layer, outputs and slopes of the block's samples.
    static consteval int most_tiles() {
        int most = 0;
        for (int l = 0; l < L::count; ++l) {
            most = F::tiles(l) > most ? F::tiles(l) : most;
            most = F::turned_tiles(l) > most ? F::turned_tiles(l) : most;
        }
        return most;
    }
    static constexpr int pitch_in = words(0) + 4, pitch_slopes = words(L::count) + 4,
                         pitch_out = Desk<L>::pitch_out;
    static constexpr int row_words =
        pitch_in > pitch_slopes + pitch_out ? pitch_in : pitch_slopes + pitch_out;
    static constexpr int out_start = most_tiles() * 64,
                         shared_words = (out_start + samples * row_words + 3) / 4 * 4;
};

template <class E, int policy, class L, Part part> class WideTeacher {
    using B = Hall<L>;
    using F = Fragments<L>;
    using J = Judge<E, policy, L, part>;
    static constexpr int width = width_of<E, policy>;

public:
    // `kept` is where level 0 of the first sample lies, `room` how many samples there is room for.
    NACELLE_INLINE WideTeacher(const Arguments& a, uint32_t* kept, size_t room)
        : a_(a),
          memory_(a.memory[Spec<policy>::group]),
          judge_(a),
          shared_(block_memory<B::shared_words>()),
          kept_(kept),
          room_(room),
          prepared_(reinterpret_cast<const uint32_t*>(a.pupil[policy].prepared) +
                    (part == Part::critic ? Prepared<E, policy>::critic : 0)),
          warp_(int(threadIdx.x) / 32) {}

    // The samples from number `first` of a minibatch on, one block of them; they are kept in this order.
    NACELLE_INLINE void teach(const View<E>& view, const Minibatch<E, policy>& batch,
                              uint64_t first) {
        const int lane = warp_lane();
        place_ = size_t(first) + size_t(warp_ * warp_rows);
        const uint64_t number = place_ + uint64_t(lane);
        const bool there = lane < warp_rows && number < batch.count;
        const size_t at = there ? batch.place(view, a_, uint32_t(number)) : 0;
        const bool mine = there && counts(memory_.flag[at]);
        const Kept<E, policy> kept = judge_.recall(at);    // long before it is needed
        __syncthreads();
        uint32_t* const rows = own_rows();
        for (int i = lane; i < warp_rows * B::pitch_in; i += 32) rows[i] = 0;
        __syncwarp();
        if (mine)
            put_row<width>(rows + lane * B::pitch_in, memory_.obs + at * size_t(width), memory_);
        __syncwarp();
        keep<0>(rows, B::pitch_in, B::seen_before(0));
        forward<0>();
        __syncwarp();
        for (int i = lane; i < warp_rows * B::pitch_slopes; i += 32) rows[i] = 0;
        __syncwarp();
        if (lane < warp_rows)
            judge_.row(outputs() + lane * B::pitch_out, mine, at, kept,
                       rows + lane * B::pitch_slopes);
        __syncwarp();
        keep<L::count>(rows, B::pitch_slopes, B::slopes_before(L::count));
        backward<L::count - 1>();
    }
    NACELLE_INLINE void store(uint32_t slot) {
        __syncthreads();
        judge_.store(slot, reinterpret_cast<float*>(shared_), B::warps);
    }

private:
    // This warp's room in shared memory: the inputs, later the slopes along the outputs and the outputs.
    NACELLE_INLINE uint32_t* own_rows() const {
        return shared_ + B::out_start + warp_ * warp_rows * B::row_words;
    }
    NACELLE_INLINE float* outputs() const {
        return reinterpret_cast<float*>(own_rows() + warp_rows * B::pitch_slopes);
    }
    // Where this warp's rows of a level lie.
    template <int level> NACELLE_INLINE uint32_t* rows_at(int before) const {
        return kept_ + size_t(before) * room_ + place_ * size_t(B::words(level));
    }
    // Rows of pairs in shared memory, tile by tile: each lane writes what it will read again.
    template <int level>
    NACELLE_INLINE void keep(const uint32_t* rows, int pitch, int before) const {
        uint32_t tile[B::tiles(level)][4];
        take_tiles<B::tiles(level)>(tile, rows, pitch);
        uint32_t* const to = rows_at<level>(before);
        NACELLE_UNROLL for (int k = 0; k < B::tiles(level); ++k)
            leave_tile(to, B::words(level), k, tile[k]);
    }
    // The tiles of a layer's weights into shared memory, by all threads.
    NACELLE_INLINE void stage(int first_word, int count) const {
        __syncthreads();
        const uint32_t* const from = prepared_ + first_word;
        for (int i = 4 * int(threadIdx.x); i < count; i += 4 * B::threads) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) shared_[i + k] = from[i + k];
        }
        __syncthreads();
    }
    template <int l> NACELLE_INLINE void forward() {
        stage(F::tiles_before(l) * 64, F::tiles(l) * 64);
        uint32_t in[1][B::tiles(l)][4];
        take_tiles<B::tiles(l)>(in[0], rows_at<l>(B::seen_before(l)), B::words(l));
        const WeightsInMemory weights{shared_ + 2 * warp_lane()};
        const float* const bias = reinterpret_cast<const float*>(prepared_) + F::bias_start +
                                  F::bias_before(l) + 2 * (warp_lane() % 4);
        constexpr int together = tiles_at_once(F::out_tiles(l));
        NACELLE_ROLLED for (int first = 0; first < F::out_tiles(l); first += together) {
            float c[1][together][4];
            begin_tiles(c, bias + 8 * first);
            tile_products<B::tiles(l)>(c, in, 0, weights, first, F::out_tiles(l));
            NACELLE_UNROLL for (int k = 0; k < together; ++k) {
                const int j = first + k;
                if constexpr (l + 1 == L::count) leave_outputs(outputs(), B::pitch_out, j, c[0][k]);
                else
                    leave_pair(rows_at<l + 1>(B::seen_before(l + 1)), B::words(l + 1), j,
                               PairCurve<L::activation>::at(c[0][k][0], c[0][k][1]),
                               PairCurve<L::activation>::at(c[0][k][2], c[0][k][3]));
            }
        }
        if constexpr (l + 1 < L::count) forward<l + 1>();
    }
    template <int l> NACELLE_INLINE void backward() {
        if constexpr (l > 0) {
            stage(F::turned_start + F::turned_before(l) * 64, F::turned_tiles(l) * 64);
            uint32_t slope[1][B::tiles(l + 1)][4];
            take_tiles<B::tiles(l + 1)>(slope[0], rows_at<l + 1>(B::slopes_before(l + 1)),
                                        B::words(l + 1));
            const WeightsInMemory turned{shared_ + 2 * warp_lane()};
            const uint32_t* const seen =
                rows_at<l>(B::seen_before(l)) + warp_lane() / 4 * B::words(l) + warp_lane() % 4;
            constexpr int all = 2 * B::tiles(l), together = tiles_at_once(all);
            NACELLE_ROLLED for (int first = 0; first < all; first += together) {
                float c[1][together][4];
                begin_tiles(c);
                tile_products<B::tiles(l + 1)>(c, slope, 0, turned, first, all);
                NACELLE_UNROLL for (int k = 0; k < together; ++k) {
                    const int j = first + k;
                    leave_pair(rows_at<l>(B::slopes_before(l)), B::words(l), j,
                               bent(seen[4 * j], c[0][k][0], c[0][k][1]),
                               bent(seen[4 * j + 8 * B::words(l)], c[0][k][2], c[0][k][3]));
                }
            }
            backward<l - 1>();
        }
    }
    // Only curves whose slope shows in what comes out.
    static NACELLE_INLINE uint32_t bent(uint32_t out, float a, float b) {
        using C = Curve<L::activation>;
        static_assert(!C::needs_input, "a wide network bends by tanh or relu");
        return pair_of(a * C::slope(0, low_half(out)), b * C::slope(0, high_half(out)));
    }

    const Arguments& a_;
    const Memory& memory_;
    J judge_;
    uint32_t *shared_, *kept_;
    size_t room_, place_ = 0;
    const uint32_t* prepared_;
    int warp_;
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
        WideTeacher<E, policy, L, part> teacher(
            a, a.pupil[policy].wide + (part == Part::critic ? Room::first * room : 0), room);
        constexpr uint64_t together = uint64_t(Hall<L>::samples);
        for (uint64_t first = slot * together; first < batch.count;
             first += a.pupil[policy].parts * together)
            teacher.teach(view, batch, first);
        teacher.store(slot);
    });
}

}
