#pragma once
#include <learn/gpu/prepared.h>
// A network in 32-bit floats on a GPU, a thread for each sample. Weights come from memory in the order
// of Packed, all threads of a warp the same ones; a sample's numbers lie `stride` floats apart.

namespace learn {

inline constexpr int outputs_together = 16;    // sums that a thread keeps in registers

// y[first .. first + count) = x times w, which has `pitch` floats for each input, the bias behind the last.
template <int in, int pitch, int count, bool bias>
NACELLE_INLINE void thread_dense_block(const float* w, const float* x, size_t stride_x,
                                       float* sum) {
    NACELLE_UNROLL for (int o = 0; o < count; o += 4) {
        const Four first = bias ? four_at(w + in * pitch + o) : Four{};
        NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[o + k] = first.at[k];
    }
    NACELLE_FOURFOLD for (int i = 0; i < in; ++i) {
        const float value = x[size_t(i) * stride_x];
        NACELLE_UNROLL for (int o = 0; o < count; o += 4) {
            const Four weights = four_at(w + i * pitch + o);
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[o + k] =
                fused(value, weights.at[k], sum[o + k]);
        }
    }
}
// fn(output, sum) for every one of `out` outputs.
template <int in, int out, bool bias, class Fn>
NACELLE_INLINE void thread_dense(const float* w, const float* x, size_t stride_x, Fn&& fn) {
    constexpr int pitch = padded<out>, whole = out / outputs_together * outputs_together,
                  rest = pitch - whole;
    float sum[outputs_together];
    NACELLE_ROLLED for (int first = 0; first < whole; first += outputs_together) {
        thread_dense_block<in, pitch, outputs_together, bias>(w + first, x, stride_x, sum);
        NACELLE_UNROLL for (int o = 0; o < outputs_together; ++o) fn(first + o, sum[o]);
    }
    if constexpr (rest > 0) {
        thread_dense_block<in, pitch, rest, bias>(w + whole, x, stride_x, sum);
        NACELLE_UNROLL for (int o = 0; o < rest; ++o) if (whole + o < out) fn(whole + o, sum[o]);
    }
}

// A row through all layers, of which only the last one's outputs are wanted. x has the inputs, and both
// x and spare have room for the widest layer. Returns where the outputs are.
template <class L, int l = 0>
NACELLE_INLINE float* thread_forward(const float* w, float* x, float* spare) {
    if constexpr (l == L::count) return x;
    else {
        thread_dense<L::width[l], L::width[l + 1], true>(
            w + Packed<L>::template forward<l>(), x, 1, [&](int o, float sum) {
                spare[o] = l + 1 < L::count ? Curve<L::activation>::at(sum) : sum;
            });
        return thread_forward<L, l + 1>(w, spare, x);
    }
}

// What a policy's networks say of one row of its observations.
template <class E, int policy> class ThreadMind {
    using N = Networks<E, policy>;
    static constexpr int width = width_of<E, policy>, room = whole_lanes(N::Actor::widest());

public:
    NACELLE_INLINE explicit ThreadMind(const Arguments& a)
        : weights_(a.pupil[policy].prepared),
          mean_(a.memory[Spec<policy>::group].mean),
          scale_(a.memory[Spec<policy>::group].scale) {}

    NACELLE_INLINE const float* think(const float* obs) {
        normalise(obs);
        return out_ = thread_forward<typename N::Actor>(weights_, x_, spare_);
    }
    // Of the row that think() had last; its outputs are gone then.
    NACELLE_INLINE float judge(const float* obs) {
        if constexpr (N::shared) return out_[N::value_output];
        else {
            normalise(obs);
            return thread_forward<typename N::Critic>(weights_ + Prepared<E, policy>::critic, x_,
                                                      spare_)[0];
        }
    }
    NACELLE_INLINE float value(const float* obs) {
        if constexpr (N::shared) think(obs);
        return judge(obs);
    }

private:
    NACELLE_INLINE void normalise(const float* obs) {
        for (int k = 0; k < width; ++k) x_[k] = normal_of(obs[k], mean_[k], scale_[k]);
    }
    const float *weights_, *mean_, *scale_;
    const float* out_ = nullptr;
    float x_[room], spare_[room];
};

}
