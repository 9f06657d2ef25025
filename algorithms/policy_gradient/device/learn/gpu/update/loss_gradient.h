#pragma once
#include <learn/formulas/returns.h>
#include <learn/gpu/dense/inference.h>

namespace learn {

// Which network a block works on: the only one, or one of two, which never meet in an update.
enum class Part { whole, actor, critic };

// What a rollout found of a sample.
template <class E, int policy> struct KeptSample {
    Experience then;
    float choice[Networks<E, policy>::H::parts];
};

// From a row's outputs to the slopes along them, by the lane that owns it; and what is told of an update.
template <class E, int policy, class L, Part part> class LossGradient {
    using N = Networks<E, policy>;
    using H = typename N::H;
    using S = Spec<policy>;
    using G = GroupOf<E, policy>;

public:
    NACELLE_INLINE explicit LossGradient(const Arguments& a)
        : memory_(a.memory[S::group]),
          state_(a.policy[policy]),
          mean_(float(state_.found[advantage_mean])),
          scale_(float(state_.found[advantage_scale])) {
        NACELLE_UNROLL for (int k = clip; k <= entropy_weight; ++k) dials_[k] = state_.dials[k];
        NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) tally_[k] = 0;
    }
    NACELLE_INLINE KeptSample<E, policy> load(size_t at) const {
        KeptSample<E, policy> kept{packed_experience(memory_, at), {}};
        if constexpr (part != Part::critic) {
            const float* const from = memory_.choice + at * H::parts;
            NACELLE_UNROLL for (int k = 0; k < H::parts; ++k) kept.choice[k] = from[k];
        }
        return kept;
    }
    NACELLE_INLINE void bring_sample_near(size_t at) const {
        bring_near(memory_.experience + 4 * at);
        if constexpr (part != Part::critic) bring_near(memory_.choice + at * H::parts);
        if (const uint8_t* const mask = kept_mask<E, G>(memory_, at)) bring_near(mask);
    }
    // The slopes as pairs, plane by plane; none where there is no sample.
    NACELLE_INLINE void row(const float* out, bool mine, size_t at,
                            const KeptSample<E, policy>& kept, uint32_t* to) {
        float slope[L::out];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) slope[k] = 0;
        if (mine) slopes(out, at, kept, slope);
        constexpr int apart = 8 * tiles_of(L::out, 16);
        NACELLE_UNROLL for (int k = 0; k < L::out; k += 2) {
            const auto pair = planes_of<L::planes>(slope[k], k + 1 < L::out ? slope[k + 1] : 0.0f);
            NACELLE_UNROLL for (int p = 0; p < L::planes; ++p) to[apart * p + k / 2] = pair.at[p];
        }
    }
    // The slopes along a row's outputs.
    NACELLE_INLINE void slopes(const float* shared, size_t at, const KeptSample<E, policy>& kept,
                               float* slope) {
        float out[L::out];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = shared[k];
        const Experience then = made_even(kept.then, mean_, scale_);
        Evaluated now{then.log_probability, 0, then.value};
        if constexpr (part == Part::critic) now.value = out[0];
        if constexpr (part == Part::whole) now.value = out[N::value_output];
        const float* const choice = kept.choice;
        const uint8_t* const mask = kept_mask<E, G>(memory_, at);
        if constexpr (part != Part::critic)
            H::evaluate(out, mask, choice, now.log_probability, now.entropy);
        const Losses l = losses_of<S::loss>(then, now, dials_);
        if constexpr (part != Part::critic)
            H::slopes(out, mask, choice, l.by_probability, l.by_entropy, slope);
        if constexpr (part == Part::critic) slope[0] = l.by_value;
        if constexpr (part == Part::whole) slope[N::value_output] = l.by_value;
        count_losses<part != Part::critic, part != Part::actor>(tally_, now, l);
    }
    // The sums over a block, whose threads all come along; `warp_sums` has room for a few floats a warp. They may be
    // added to what the slot has.
    NACELLE_INLINE void store(uint32_t slot, float* warp_sums, int warps, bool adds = false) {
        sum_warps(warp_sums);
        __syncthreads();
        add_up(slot, warp_sums, warps, adds);
    }
    NACELLE_INLINE void sum_warps(float* warp_sums) const {
        NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) {
            const float sum = warp_sum(tally_[k]);
            if (warp_lane() == 0) warp_sums[int(threadIdx.x) / 32 * tally_count + k] = sum;
        }
    }
    NACELLE_INLINE void add_up(uint32_t slot, const float* warp_sums, int warps, bool adds) const {
        const int k = int(threadIdx.x);
        const bool ours =
            k < tally_count && (part == Part::whole || (k == value_loss) == (part == Part::critic));
        if (!ours) return;
        double& to = state_.tallies[size_t(slot) * tally_count + size_t(k)];
        double sum = adds ? to : 0;
        for (int warp = 0; warp < warps; ++warp) sum += double(warp_sums[warp * tally_count + k]);
        to = sum;
    }

private:
    const Memory& memory_;
    const PolicyState& state_;
    float mean_, scale_;
    float dials_[entropy_weight + 1];
    float tally_[tally_count];
};

// Shared memory of as many words as a launch asks for.
#if defined(NACELLE_EMULATE)
template <int words> alignas(16) inline uint32_t emulated_memory[words];
#endif
template <int words> NACELLE_INLINE uint32_t* block_memory() {
#if defined(NACELLE_EMULATE)
    return emulated_memory<words>;
#elif defined(__CUDACC_RTC__)
    return reinterpret_cast<uint32_t*>(nacelle_shared);
#else
    return nullptr;
#endif
}

// fn.template operator()<L, part>(slot) for what a block works on: with two networks the blocks behind the
// slots work on the second one. None where the update has ended early.
template <class E, int policy, class Fn>
NACELLE_INLINE void with_network(const Arguments& a, uint32_t block, Fn&& fn) {
    using N = Networks<E, policy>;
    const uint32_t parts = a.policy[policy].parts;
    if (a.policy[policy].found[stopped] != 0) return;
    if constexpr (N::shared) fn.template operator()<typename N::Actor, Part::whole>(block);
    else if (!N::separate || block < parts)
        fn.template operator()<typename N::Actor, Part::actor>(block);
    else if constexpr (N::separate)
        fn.template operator()<typename N::Critic, Part::critic>(block - parts);
}

}
