#pragma once
#include <learn/gpu/warp_mind.h>
#include <learn/returns.h>

namespace learn {

// Which network a block teaches: the only one, or one of two, which never meet in an update.
enum class Part { whole, actor, critic };

// From a row's outputs to the slopes along them, by the lane that owns it; and what is told of an update.
template <class E, int policy, class L, Part part> class Judge {
    using N = Networks<E, policy>;
    using H = typename N::H;
    using S = Spec<policy>;
    using G = GroupOf<E, policy>;
    static constexpr int choices = choices_in<ActionOf<E, G>>;

public:
    size_t rows;    // of the group

    NACELLE_INLINE Judge(const View<E>& view, const Arguments& a)
        : rows(group_rows<E, policy>(view)), memory_(a.memory[S::group]), pupil_(a.pupil[policy]) {
        NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) tally_[k] = 0;
    }
    // The slopes as pairs; none where there is no sample.
    NACELLE_INLINE void row(const float* out, bool mine, size_t at, uint32_t* to) {
        float slope[L::out];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) slope[k] = 0;
        if (mine) judge(out, at, slope);
        NACELLE_UNROLL for (int k = 0; k < L::out; k += 2) to[k / 2] =
            pair_of(slope[k], k + 1 < L::out ? slope[k + 1] : 0.0f);
    }
    // The sums over a block, whose threads all come along; `meeting` has room for a few floats a warp.
    NACELLE_INLINE void store(uint32_t slot, float* meeting, int warps) {
        NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) {
            float sum = tally_[k];
            NACELLE_UNROLL for (int other = 16; other > 0; other /= 2) sum +=
                __shfl_xor_sync(~0u, sum, other);
            if (warp_lane() == 0) meeting[int(threadIdx.x) / 32 * tally_count + k] = sum;
        }
        __syncthreads();
        const int k = int(threadIdx.x);
        const bool ours =
            k < tally_count && (part == Part::whole || (k == value_loss) == (part == Part::critic));
        if (!ours) return;
        double sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += double(meeting[warp * tally_count + k]);
        pupil_.tallies[size_t(slot) * tally_count + size_t(k)] = sum;
    }

private:
    NACELLE_INLINE void judge(const float* shared, size_t at, float* slope) {
        float out[L::out];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = shared[k];
        Experience then{memory_.log_odds[at], memory_.value[at], 0, memory_.target[at]};
        Opinion now{then.log_odds, 0, then.value};
        if constexpr (part == Part::critic) {
            now.value = out[0];
            const Losses l = losses_of<S::loss>(then, now, pupil_.dials);
            slope[0] = l.by_value;
            tally_[value_loss] += l.value;
        } else {
            const float* const choice = memory_.choice + at * H::parts;
            const uint8_t* mask = nullptr;
            if constexpr (has_mask<E, G>) mask = memory_.mask + at * size_t(choices);
            then.advantage = (memory_.advantage[at] - float(pupil_.found[advantage_mean])) *
                             float(pupil_.found[advantage_scale]);
            if constexpr (part == Part::whole) now.value = out[N::value_output];
            H::judge(out, mask, choice, now.log_odds, now.entropy);
            const Losses l = losses_of<S::loss>(then, now, pupil_.dials);
            H::slopes(out, mask, choice, l.by_odds, l.by_entropy, slope);
            if constexpr (part == Part::whole) {
                slope[N::value_output] = l.by_value;
                tally_[value_loss] += l.value;
            }
            tally_[weight] += 1;
            tally_[policy_loss] += l.policy;
            tally_[entropy] += now.entropy;
            tally_[kl] += l.kl;
            tally_[clipped] += l.clipped;
        }
    }
    const Memory& memory_;
    const Pupil& pupil_;
    float tally_[tally_count];
};

}
