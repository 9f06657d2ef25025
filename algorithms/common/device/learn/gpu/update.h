#pragma once
#include <learn/gpu/thread_layers.h>
#include <learn/returns.h>
#include <learn/shuffle.h>
// The gradient of one minibatch in 32-bit floats on a GPU. A block is a slot: its threads take a sample
// each through the networks and back, leave every layer's numbers on a sheet of the block's, and then
// share the weights among themselves, each summing over all samples of the tile.

namespace learn {

template <class L> struct Sheet {
    static constexpr bool keeps_input = Curve<L::activation>::needs_input;
    // Floats of a sample before layer l.
    static consteval int before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += whole_lanes(L::width[i]);
        return n;
    }
    static constexpr int one = before(L::count + 1), size = one * (keeps_input ? 3 : 2);
};

template <class L> class ThreadSheet {
    using S = Sheet<L>;
    static constexpr size_t across = block_threads;

public:
    NACELLE_INLINE ThreadSheet(float* sheet, int thread) : own_(sheet + thread), all_(sheet) {}

    template <int l> NACELLE_INLINE float& y(int k) {
        return own_[size_t(S::before(l) + k) * across];
    }
    template <int l> NACELLE_INLINE float& slope(int k) {
        return own_[size_t(S::one + S::before(l) + k) * across];
    }
    template <int l> NACELLE_INLINE float& z(int k) {
        return own_[size_t(2 * S::one + S::before(l) + k) * across];
    }

    template <int l = 0> NACELLE_INLINE void forward(const float* w) {
        if constexpr (l < L::count) {
            thread_dense<L::width[l], L::width[l + 1], true>(
                w + Packed<L>::template forward<l>(), &y<l>(0), across, [&](int o, float sum) {
                    if constexpr (S::keeps_input) z<l + 1>(o) = sum;
                    y<l + 1>(o) = l + 1 < L::count ? Curve<L::activation>::at(sum) : sum;
                });
            forward<l + 1>(w);
        }
    }
    template <int l = L::count - 1> NACELLE_INLINE void backward(const float* turned) {
        if constexpr (l > 0) {
            thread_dense<L::width[l + 1], L::width[l], false>(
                turned + Packed<L>::template backward<l>(), &slope<l + 1>(0), across,
                [&](int i, float sum) {
                    const float before = S::keeps_input ? z<l>(i) : 0.0f;
                    slope<l>(i) = sum * Curve<L::activation>::slope(before, y<l>(i));
                });
            backward<l - 1>(turned);
        }
    }
    // This thread's share of the weights: their gradient over all samples of the tile is added.
    template <int l = 0> NACELLE_INLINE void gather(float* gradient, int thread) const {
        if constexpr (l < L::count) {
            constexpr int in = L::width[l], out = L::width[l + 1], pitch = padded<out>,
                          across_out = pitch / 4, down = (in + 1 + 3) / 4;
            float* const to = gradient + Packed<L>::template forward<l>();
            NACELLE_ROLLED for (int at = thread; at < across_out * down; at += block_threads)
                gather_block<l>(to, at / across_out * 4, at % across_out * 4);
            gather<l + 1>(gradient, thread);
        }
    }

private:
    // Four inputs by four outputs; input `in` is the bias. Rows behind it are computed and not stored.
    template <int l> NACELLE_INLINE void gather_block(float* to, int i, int o) const {
        constexpr int in = L::width[l], pitch = padded<L::width[l + 1]>;
        float sum[4][4] = {};
        const float* const x = all_ + size_t(S::before(l) + i) * across;
        const float* const d = all_ + size_t(S::one + S::before(l + 1) + o) * across;
        NACELLE_ROLLED for (int s = 0; s < block_threads; s += 4) {
            Four inputs[4], slopes[4];
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                inputs[k] = i + k < in ? four_at(x + size_t(k) * across + s)
                                       : Four{{1.0f, 1.0f, 1.0f, 1.0f}};
                slopes[k] = four_at(d + size_t(k) * across + s);
            }
            NACELLE_UNROLL for (int j = 0; j < 4; ++j) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    NACELLE_UNROLL for (int m = 0; m < 4; ++m) sum[j][k] =
                        fused(inputs[j].at[m], slopes[k].at[m], sum[j][k]);
                }
            }
        }
        NACELLE_UNROLL for (int j = 0; j < 4; ++j) {
            if (i + j > in) continue;
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) to[size_t(i + j) * pitch + size_t(o + k)] +=
                sum[j][k];
        }
    }
    float *own_, *all_;
};

template <class E, int policy> struct SheetOf {
    using N = Networks<E, policy>;
    static constexpr int actor = Sheet<typename N::Actor>::size * block_threads,
                         size = actor +
                                (N::shared ? 0 : Sheet<typename N::Critic>::size * block_threads);
};

template <class E, int policy> class ThreadTeacher {
    using N = Networks<E, policy>;
    using H = typename N::H;
    using S = Spec<policy>;
    using Group = GroupOf<E, policy>;
    static constexpr int width = width_of<E, policy>;

public:
    NACELLE_INLINE ThreadTeacher(const Arguments& a, float* sheet, int thread)
        : a_(a),
          memory_(a.memory[S::group]),
          pupil_(a.pupil[policy]),
          thread_(thread),
          actor_(sheet, thread),
          critic_(sheet + SheetOf<E, policy>::actor, thread) {}

    // One tile: this thread's sample, if there is one of this number, and its share of the weights.
    NACELLE_INLINE void teach(const View<E>& view, const Minibatch<E, policy>& batch,
                              uint64_t number, float* gradient, Sums<tally_count>& tally) {
        const size_t at = number < batch.count ? batch.place(view, a_, uint32_t(number)) : 0;
        const bool mine = number < batch.count && counts(memory_.flag[at]);
        see(actor_, at);
        actor_.forward(pupil_.prepared);
        if constexpr (!N::shared) {
            see(critic_, at);
            critic_.forward(pupil_.prepared + Prepared<E, policy>::critic);
        }
        judge(mine, at, tally);
        actor_.backward(pupil_.prepared + FloatOrder<typename N::Actor>::turned);
        if constexpr (!N::shared)
            critic_.backward(pupil_.prepared + Prepared<E, policy>::critic +
                             FloatOrder<typename N::Critic>::turned);
        __syncthreads();
        actor_.gather(gradient, thread_);
        if constexpr (!N::shared)
            critic_.gather(gradient + Packed<typename N::Actor>::size, thread_);
        __syncthreads();
    }

private:
    template <class T> NACELLE_INLINE void see(T& sheet, size_t at) {
        const float* const obs = memory_.obs + at * size_t(width);
        for (int k = 0; k < width; ++k)
            sheet.template y<0>(k) = normal_of(obs[k], memory_.mean[k], memory_.scale[k]);
    }
    NACELLE_INLINE void judge(bool mine, size_t at, Sums<tally_count>& tally) {
        float out[N::Actor::out], slope[N::Actor::out];
        for (int k = 0; k < N::Actor::out; ++k) {
            out[k] = actor_.template y<N::Actor::count>(k);
            slope[k] = 0;
        }
        float by_value = 0;
        if (mine) {
            const float* const choice = memory_.choice + at * H::parts;
            const uint8_t* const mask = kept_mask<E, Group>(memory_, at);
            Opinion now;
            now.value = value(out);
            H::judge(out, mask, choice, now.log_probability, now.entropy);
            const Losses l =
                losses_of<S::loss>(even_experience(memory_, pupil_, at), now, pupil_.dials);
            H::slopes(out, mask, choice, l.by_probability, l.by_entropy, slope);
            by_value = l.by_value;
            count_losses<true, true>(tally.at, now, l);
        }
        if constexpr (N::shared) slope[N::value_output] = by_value;
        else critic_.template slope<N::Critic::count>(0) = by_value;
        for (int k = 0; k < N::Actor::out; ++k)
            actor_.template slope<N::Actor::count>(k) = slope[k];
    }
    NACELLE_INLINE float value(const float* out) {
        if constexpr (N::shared) return out[N::value_output];
        else return critic_.template y<N::Critic::count>(0);
    }

    const Arguments& a_;
    const Memory& memory_;
    const Pupil& pupil_;
    int thread_;
    ThreadSheet<typename N::Actor> actor_;
    ThreadSheet<typename N::Critic> critic_;
};

template <class E, int policy>
NACELLE_INLINE void gradient(const View<E>& view, const Arguments& a, Items items) {
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const Minibatch<E, policy> batch(view, a);
    const uint32_t slot = uint32_t(items.begin / block_threads), thread = threadIdx.x;
    constexpr uint32_t size = uint32_t(Place<E, policy>::size);
    float* const sum = pupil.gradient + size_t(slot) * size;
    for (uint32_t i = thread; i < size; i += block_threads) sum[i] = 0;
    __syncthreads();
    ThreadTeacher<E, policy> teacher(a, pupil.sheets + size_t(slot) * SheetOf<E, policy>::size,
                                     int(thread));
    Sums<tally_count> tally;
    for (uint64_t first = slot * block_threads; first < batch.count;
         first += uint64_t(pupil.parts) * block_threads)
        teacher.teach(view, batch, first + thread, sum, tally);
    store_sums(tally, pupil.tallies + size_t(slot) * tally_count);
}
// What the networks say now of a sample: its value, and how its choice's probability moved.
template <class E, int policy>
NACELLE_INLINE void review_threads(const View<E>& view, const Arguments& a, Items items) {
    using H = Head<ChoiceOf<E, policy>, Spec<policy>>;
    using G = GroupOf<E, policy>;
    if (a.pupil[policy].found[stopped] != 0 || items.begin >= samples_of<E, policy>(view, a))
        return;
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t at = place_of<E, policy>(view, a, uint32_t(items.begin));
    const float* const obs = memory.obs + at * size_t(width_of<E, policy>);
    ThreadMind<E, policy> mind(a);
    float log_probability, entropy_now;
    H::judge(mind.think(obs), kept_mask<E, G>(memory, at), memory.choice + at * H::parts,
             log_probability, entropy_now);
    memory.ratio[at] = exp(log_ratio(log_probability, memory.log_probability[at]));
    memory.value[at] = mind.judge(obs);
}

}
