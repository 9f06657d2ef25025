#pragma once
#include <learn/gpu/wide_rows.h>
// How a block takes the samples of a wide network through its layers, and where things lie. tensor_fit.cpp works
// out the same on the host.

namespace learn {

// All weights in shared memory, row by row: those of an output side by side, as the way forward reads them; the
// way back turns them as it reads. Behind them the biases.
template <class L> struct Shelf {
    static consteval int tiles(int l) { return tiles_of(L::width[l], 16); }
    static consteval int pitch(int l) { return 8 * tiles(l) + 4; }
    static consteval int before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += 16 * tiles(i + 1) * pitch(i);
        return n;
    }
    // Outputs are worked on by 32.
    static consteval int bias_before(int l) {
        int n = before(L::count);
        for (int i = 0; i < l; ++i) n += (tiles(i + 1) + 1) / 2 * 32;
        return n;
    }
    static constexpr int words = bias_before(L::count);

    // Tiles of 16 by 16 numbers that a warp has in its registers at once.
    static consteval int held() {
        int all = 0;
        for (int l = 1; l < L::count; ++l) all += tiles(l);
        const int first = L::count > 1 ? tiles(0) + tiles(1) : tiles(0);
        return all > first ? all : first;
    }
};

template <class L> struct Hall {
    using F = Fragments<L>;
    using S = Shelf<L>;
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

    // In shared memory: weights of all layers or of one, outputs and slopes of the block's samples.
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
    static consteval int words_behind(int weights) {
        return (weights + samples * row_words + 3) / 4 * 4;
    }
    // Whether samples stay in registers on their way, and all weights in shared memory. On a CPU, for tests, small
    // networks go both ways.
#if defined(NACELLE_EMULATE)
    static constexpr int most_held = 8;
#else
    static constexpr int most_held = 34;
#endif
    static constexpr int most_words = 227 * 1024 / 4;
    static constexpr bool at_once = S::held() <= most_held && words_behind(S::words) <= most_words;
    static constexpr int out_start = at_once ? S::words : most_tiles() * 64,
                         shared_words = words_behind(out_start);
};

// What both ways of taking samples through the layers have: a block's place in shared memory and in memory.
template <class E, int policy, class L, Part part> class WideRows {
protected:
    using B = Hall<L>;
    using F = Fragments<L>;
    static constexpr int width = width_of<E, policy>;

    // `kept` is where level 0 of the first sample lies, `room` how many samples there is room for.
    NACELLE_INLINE WideRows(const Arguments& a, uint32_t* kept, size_t room)
        : memory_(a.memory[Spec<policy>::group]),
          judge_(a),
          shared_(block_memory<B::shared_words>()),
          kept_(kept),
          room_(room),
          prepared_(reinterpret_cast<const uint32_t*>(a.pupil[policy].prepared) +
                    (part == Part::critic ? Prepared<E, policy>::critic : 0)),
          warp_(int(threadIdx.x) / 32),
          a_(a) {}

    NACELLE_INLINE void bring_obs_near() const {
        if (at_ == nowhere) return;
        const float* const from = memory_.obs + at_ * size_t(width);
        NACELLE_ROLLED for (int k = 0; k < width; k += 32) bring_near(from + k);
        bring_near(from + width - 1);
    }
    // What was looked up has arrived: of samples that do not count nothing is seen.
    NACELLE_INLINE void settle() {
        if (!counts(flag_)) at_ = nowhere;
    }
    // From the outputs to the slopes along them, as rows of pairs; lane i has row i.
    NACELLE_INLINE void judge() {
        uint32_t* const rows = own_rows();
        __syncwarp();
        for (int i = warp_lane(); i < warp_rows * B::pitch_slopes; i += 32) rows[i] = 0;
        __syncwarp();
        if (warp_lane() < warp_rows)
            judge_.row(outputs() + warp_lane() * B::pitch_out, at_ != nowhere,
                       at_ != nowhere ? at_ : 0, kept_then_, rows + warp_lane() * B::pitch_slopes);
        __syncwarp();
    }
    // This warp's room in shared memory: the inputs, later the slopes along the outputs and the outputs.
    NACELLE_INLINE uint32_t* own_rows() const {
        return shared_ + B::out_start + warp_ * warp_rows * B::row_words;
    }
    NACELLE_INLINE float* outputs() const {
        return reinterpret_cast<float*>(own_rows() + warp_rows * B::pitch_slopes);
    }
    // Where this warp's rows of a level lie in memory.
    template <int level> NACELLE_INLINE uint32_t* rows_at(int before) const {
        return kept_ + size_t(before) * room_ + place_ * size_t(B::words(level));
    }
    // Only curves whose slope shows in what comes out.
    static NACELLE_INLINE uint32_t bent(uint32_t out, float a, float b) {
        using C = Curve<L::activation>;
        static_assert(!C::needs_input, "a wide network bends by tanh or relu");
        return pair_of(a * C::slope(0, low_half(out)), b * C::slope(0, high_half(out)));
    }

public:
    // Where this warp's samples from number `first` of a minibatch on lie, and what is read of them long before
    // it is needed.
    NACELLE_INLINE void look_up(const View<E>& view, const Minibatch<E, policy>& batch,
                                uint64_t first) {
        place_ = size_t(first) + size_t(warp_ * warp_rows);
        const uint64_t number = place_ + uint64_t(warp_lane());
        const bool there = warp_lane() < warp_rows && number < batch.count;
        const size_t at = there ? batch.place(view, a_, uint32_t(number)) : 0;
        at_ = there ? at : nowhere;
        flag_ = memory_.flag[at];
        kept_then_ = judge_.recall(at);
    }
    NACELLE_INLINE void store(uint32_t slot) {
        __syncthreads();
        judge_.store(slot, reinterpret_cast<float*>(shared_), B::warps);
    }

protected:
    const Memory& memory_;
    Judge<E, policy, L, part> judge_;
    uint32_t *shared_, *kept_;
    size_t room_, place_ = 0, at_ = nowhere;
    uint8_t flag_ = 0;
    Kept<E, policy> kept_then_;
    const uint32_t* prepared_;
    int warp_;

private:
    const Arguments& a_;
};

}
