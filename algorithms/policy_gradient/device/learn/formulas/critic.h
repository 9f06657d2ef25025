#pragma once
#include <learn/formulas/record.h>
#include <learn/layout/kept.h>
#include <learn/layout/network.h>
// What networks see of a sample that a rollout has kept: its observation, or, of a central critic, more than that. Nothing is
// copied for one: overviews are kept once for each environment and step, observations once for each agent, and a row says
// where they lie.

namespace learn {

template <class E, int policy> class CriticRow {
    static constexpr Sees sees = Spec<policy>::sees;
    static constexpr int each = observed_width<E, policy>, first_own = sees.team * each,
                         in_group = count_of<E, GroupOf<E, policy>>;

public:
    CriticRow() = default;
    // Of place `at` of the group's rollout; `final`: of where its episode was cut short then.
    NACELLE_INLINE CriticRow(const Arguments& a, size_t at, bool final)
        : a_(&a), there_(true), agent_(int(at % size_t(in_group))) {
        const Memory& group = a.memory[Spec<policy>::group];
        const size_t env = at / size_t(in_group);
        if constexpr (sees.overview > 0)
            overview_ =
                (final ? a.overviews->final_obs : a.overviews->obs) + env * size_t(sees.overview);
        observed_ = kept_row<each>(group, env * size_t(in_group), final);
        flag_ = final ? group.flag + env * size_t(in_group) : nullptr;
    }
    explicit NACELLE_INLINE operator bool() const { return there_; }
    // Number k of the row, normalised. Of an agent whose episode had ended before, nothing is known: that is the mean.
    NACELLE_INLINE float operator()(int k) const {
        if (k < sees.overview) {
            const Overviews& all = *a_->overviews;
            return normal_of(overview_[k], all.mean[k], all.scale[k]);
        }
        const int at = k - sees.overview, agent = at < first_own ? member(at / each) : agent_,
                  number = at % each;
        if (flag_ && !is_cut(flag_[agent])) return 0;
        return observed(agent, number);
    }
#if NACELLE_GPU
    NACELLE_INLINE uint32_t pair(int p, const auto&) const requires(keeps_pairs) {
        return pair_of((*this)(2 * p), 2 * p + 1 < width_of<E, policy> ? (*this)(2 * p + 1) : 0);
    }
    NACELLE_INLINE FourWords four(int p, const auto& scales) const requires(keeps_pairs) {
        FourWords words{};
        NACELLE_ROLLED for (int i = 0; i < 4 && 2 * (p + i) < width_of<E, policy>; ++i)
            words.at[i] = pair(p + i, scales);
        return words;
    }
#endif

private:
    NACELLE_INLINE int member(int i) const {
        return sees.team == in_group ? i : int(a_->policy[policy].agent_ids[i]);
    }
    NACELLE_INLINE float observed(int agent, int number) const {
#if NACELLE_GPU
        if constexpr (keeps_pairs) {
            const uint32_t pair = cut_pair(observed_.at[agent * kept_words(each) + number / 2]);
            return number % 2 ? high_half(pair) : low_half(pair);
        } else
#endif
        {
            const Memory& group = a_->memory[Spec<policy>::group];
            return normal_of(observed_[agent * each + number], group.mean[number],
                             group.scale[number]);
        }
    }

    const Arguments* a_ = nullptr;
    const float* overview_ = nullptr;
    decltype(kept_row<each>(Memory{}, 0)) observed_ = {};
    const uint8_t* flag_ = nullptr;
    bool there_ = false;
    int agent_ = 0;
};

template <class E, int policy> using KeptRow = decltype(kept_row<width_of<E, policy>>(Memory{}, 0));
template <class E, int policy>
using SeenRow = Either<Spec<policy>::sees.more(), CriticRow<E, policy>, KeptRow<E, policy>>;

// What is seen at place `at` of a rollout, and where an episode was cut short there.
template <class E, int policy>
NACELLE_INLINE SeenRow<E, policy> seen_at(const Arguments& a, size_t at, bool final = false) {
    if constexpr (Spec<policy>::sees.more()) return CriticRow<E, policy>(a, at, final);
    else return kept_row<width_of<E, policy>>(a.memory[Spec<policy>::group], at, final);
}
// Number k of a row as the networks see it, where no number is a code.
NACELLE_INLINE float number_of(const float* row, int k, const float* mean, const float* scale) {
    return normal_of(row[k], mean[k], scale[k]);
}
template <class E, int policy>
NACELLE_INLINE float number_of(const CriticRow<E, policy>& row, int k, const float*, const float*) {
    return row(k);
}
// And where it may be.
template <int policy>
NACELLE_INLINE float coded_of(const float* row, int k, const float* mean, const float* scale) {
    return seen_of<policy>(row, k, mean, scale);
}
template <int policy, class E>
NACELLE_INLINE float coded_of(const CriticRow<E, policy>& row, int k, const float*, const float*) {
    return row(k);
}

}
