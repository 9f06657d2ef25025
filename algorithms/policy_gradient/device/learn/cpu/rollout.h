#pragma once
#include <learn/cpu/streamed/inference.h>
#include <learn/formulas/chooser.h>
#include <learn/formulas/observed.h>
// The policies in the loop of a rollout on a CPU.

namespace learn {

// The rows of one group: what the networks choose for them at step t, and what the steps before led to.
template <class E, class G> class GroupPolicies {
    using S = Observed<E, G>;
    static constexpr int group = S::group, width = S::width, choices = choices_in<ActionOf<E, G>>;

public:
    GroupPolicies(const View<E>& view, const Arguments& a)
        : view_(view), a_(a), memory_(a.memory[group]), rows_(rows_of<E, G>(view)) {}

    // `obs` are the numbers of the group's rows at step t, of all of them.
    void choose(uint64_t tick, int t, size_t first, int count, const float* obs) {
        if (t > 0) value_cut(t - 1, first, count);
        keep_mask(t, first, count);
        for_each_policy_of<E, group>(
            [&]<int policy>() { choose_by<policy>(tick, t, first, count, obs); });
    }
    // The values of what was cut short in step t.
    void value_cut(int t, size_t first, int count) {
        const uint8_t* const flag = memory_.flag + size_t(t) * rows_;
        bool any = false;
        for (int i = 0; i < count; ++i) any |= is_cut(flag[first + size_t(i)]);
        if (!any) return;
        for_each_policy_of<E, group>([&]<int policy>() { value_cut_by<policy>(t, first, count); });
    }
    // The same for one policy in a rollout of one launch a step.
    template <int policy> void choose_alone(size_t first, size_t end) {
        const float* const obs = S::at_step(view_, a_, a_.step, 0);
        const int t = int(a_.step);
        for (size_t row = first; row < end; row += rows_together) {
            const int count = int(min(end - row, size_t(rows_together)));
            if (t > 0) value_cut_by<policy>(t - 1, row, count);
            keep_mask(t, row, count);
            if constexpr (!is_team<E> || has_image<E>) keep_obs(t, row, count);
            choose_by<policy>(view_.head.clock->tick + a_.step, t, row, count, obs);
            for (size_t i = row; i < row + size_t(count); ++i)
                if (follows<E, G, policy>(i)) give<E, policy>(view_, i, choice_at<policy>(t, i));
        }
    }
    // The values of where the policy's rows stand when the rollout ends.
    template <int policy> void finish(int steps, size_t first, int count) {
        const float* const obs = S::now(view_, a_);
        keep_obs(steps, first, count);
        value_cut_by<policy>(steps - 1, first, count);
        value_by<policy>(obs, first, count, memory_.value + size_t(steps) * rows_);
    }
    // What a row's last choice means for its environment.
    NACELLE_INLINE void act(int t, size_t row, ActionOf<E, G>& action) const {
        for_each_policy_of<E, group>([&]<int policy>() {
            if (follows<E, G, policy>(row))
                Head<ActionOf<E, G>, Spec<policy>>::act(choice_at<policy>(t, row), action);
        });
    }

    // The observations as they are, where those of step t are kept.
    void keep_obs(int t, size_t first, int count) {
        const float* const obs = S::now(view_, a_);
        float* const kept = memory_.obs + size_t(t) * rows_ * size_t(width);
        for (size_t i = first * size_t(width); i < (first + size_t(count)) * size_t(width); ++i)
            kept[i] = obs[i];
    }

private:
    template <int policy> NACELLE_INLINE const float* choice_at(int t, size_t row) const {
        return memory_.choice +
               (size_t(t) * rows_ + row) * size_t(Head<ActionOf<E, G>, Spec<policy>>::parts);
    }
    void keep_mask(int t, size_t first, int count) {
        if constexpr (has_mask<E, G>) {
            const uint8_t* const mask = group_column<E, uint8_t, Role::mask, group>(view_);
            uint8_t* const to = memory_.mask + size_t(t) * rows_ * size_t(choices);
            for (size_t i = first * size_t(choices); i < (first + size_t(count)) * size_t(choices);
                 ++i)
                to[i] = mask[i];
        }
        (void)t, (void)first, (void)count;
    }
    // fn(the rows of this policy, how many) by tiles, of `count` rows from `first`.
    template <int policy, class Wanted, class Fn>
    void in_tiles(size_t first, int count, Wanted&& wanted, Fn&& fn) {
        size_t rows[rows_together];
        int n = 0;
        for (int i = 0; i < count; ++i) {
            const size_t row = first + size_t(i);
            if (follows<E, G, policy>(row) && wanted(row)) rows[n++] = row;
            if (n == rows_together || (i + 1 == count && n > 0)) {
                fn(rows, n);
                n = 0;
            }
        }
    }
    template <int policy>
    void choose_by(uint64_t tick, int t, size_t first, int count, const float* obs) {
        using H = Head<ActionOf<E, G>, Spec<policy>>;
        const size_t before = size_t(t) * rows_;
        if constexpr (Spec<policy>::kind == Kind::random) {
            in_tiles<policy>(
                first, count, [](size_t) { return true; },
                [&](const size_t* rows, int n) {
                    for (int i = 0; i < n; ++i) {
                        Dice<E, policy> dice(view_, tick, rows[i]);
                        H::uniform(mask_now<E, G>(view_, rows[i]), dice,
                                   memory_.choice + (before + rows[i]) * H::parts);
                    }
                });
        } else {
            each_player<policy>(first, count, [&](int player, auto&& plays) {
                Inference<E, policy>& networks = networks_of<E, policy>(a_, player);
                in_tiles<policy>(first, count, plays, [&](const size_t* rows, int n) {
                    networks.put(n, [&](int i) { return obs + rows[i] * size_t(width); });
                    if constexpr (has_memory<policy>) recall<policy>(t, rows, n);
                    networks.forward(n);
                    networks.forward_values(n);
                    if constexpr (has_memory<policy>)
                        networks.keep(n, [&](int i) { return remembered<policy>(rows[i]); });
                    for (int i = 0; i < n; ++i) {
                        const size_t at = before + rows[i];
                        Dice<E, policy> dice(view_, tick, rows[i]);
                        memory_.log_probability[at] =
                            H::draw(networks.output(i), mask_now<E, G>(view_, rows[i]), dice,
                                    memory_.choice + at * H::parts);
                        if constexpr (Spec<policy>::values == Values::own)
                            memory_.value[at] = networks.value(i);
                    }
                });
            });
        }
    }
    // fn(player, plays(row)) for who learns and for each member of the past that plays some of the rows.
    template <int policy, class Fn> void each_player(size_t first, int count, Fn&& fn) const {
        if constexpr (plays_past<policy>) {
            for (int player = present - 1;;) {
                int next = -2;
                for (int i = 0; i < count; ++i) {
                    const size_t row = first + size_t(i);
                    if (!follows<E, G, policy>(row)) continue;
                    const int its = player_of_row<policy>(row);
                    if (its > player && (next < present || its < next)) next = its;
                }
                if (next < present) return;
                player = next;
                fn(player, [&](size_t row) { return player_of_row<policy>(row) == player; });
            }
        } else fn(present, [](size_t) { return true; });
    }
    template <int policy> NACELLE_INLINE int player_of_row(size_t row) const {
        constexpr size_t agents = size_t(count_of<E, G>);
        return player_of<policy>(a_, row / agents, int(row % agents));
    }
    template <int policy> void value_cut_by(int t, size_t first, int count) {
        if constexpr (Spec<policy>::kind == Kind::trained) {
            const size_t before = size_t(t) * rows_;
            const float* const obs = S::final(view_, a_);
            in_tiles<policy>(
                first, count,
                [&](size_t row) {
                    return is_cut(memory_.flag[before + row]) &&
                           player_of_row<policy>(row) == present;
                },
                [&](const size_t* rows, int n) {
                    if constexpr (Spec<policy>::values == Values::elsewhere) {
                        for (int i = 0; i < n; ++i)
                            Chooser<E, policy>::keep_cut(view_, a_, uint32_t(t), rows[i]);
                    } else
                        Inference<E, policy>::here().values(
                            n, [&](int i) { return obs + rows[i] * size_t(width); },
                            [&](int i) { return remembered<policy>(rows[i]); },
                            [&](int i, float value) {
                                memory_.final_value[before + rows[i]] = value;
                            });
                });
        }
        (void)t, (void)first, (void)count;
    }
    template <int policy> void value_by(const float* obs, size_t first, int count, float* to) {
        if constexpr (Spec<policy>::kind == Kind::trained && Spec<policy>::values == Values::own)
            in_tiles<policy>(
                first, count, [&](size_t row) { return player_of_row<policy>(row) == present; },
                [&](const size_t* rows, int n) {
                    Inference<E, policy>::here().values(
                        n, [&](int i) { return obs + rows[i] * size_t(width); },
                        [&](int i) { return recalled<policy>(rows[i]); },
                        [&](int i, float value) { to[rows[i]] = value; });
                });
        (void)obs, (void)first, (void)count, (void)to;
    }

    // What a row remembers, and null where an episode is about to begin.
    template <int policy> float* remembered(size_t row) const {
        return a_.policy[policy].remembered + row * size_t(Networks<E, policy>::memory);
    }
    template <int policy> const float* recalled(size_t row) const {
        return begins<E>(view_, row / size_t(count_of<E, G>)) ? nullptr : remembered<policy>(row);
    }
    // Before step t, whose update will begin where a sequence does.
    template <int policy> void recall(int t, const size_t* rows, int n) const {
        constexpr size_t width = size_t(Networks<E, policy>::memory);
        const PolicyState& state = a_.policy[policy];
        Inference<E, policy>::here().recall(n, [&](int i) {
            const float* const its = recalled<policy>(rows[i]);
            state.forgot[size_t(t) * rows_ + rows[i]] = !its;
            if (uint32_t(t) % a_.sequence == 0) {
                float* const to = state.begun + (size_t(t) / a_.sequence * rows_ + rows[i]) * width;
                for (size_t k = 0; k < width; ++k) to[k] = its ? its[k] : 0.0f;
            }
            return its;
        });
    }

    const View<E>& view_;
    const Arguments& a_;
    const Memory& memory_;
    size_t rows_;
};

template <class E, class = count_to<policy_count<E>()>> struct LoadedPolicies;
template <class E, int... policy>
struct LoadedPolicies<E, Ints<policy...>> : LoadedNetworks<E, policy>... {
    explicit LoadedPolicies(const Arguments& a) : LoadedNetworks<E, policy>(a)... {}
};

// The policies in the loop of a rollout. The record of a team has put the observations where they are kept.
template <class E> struct RolloutPolicy {
    const Arguments& a;

    template <class Rows> void choose(Rows& rows) const {
        using G = typename Rows::Group;
        constexpr int group = group_index<E, G>(), width = numbers_in<ObsOf<E, G>>;
        GroupPolicies<E, G> policies(rows.view, a);
        const size_t first = rows.row(0);
        if constexpr (is_team<E>)
            policies.choose(rows.tick, rows.t, first, rows.count(),
                            a.memory[group].obs +
                                size_t(rows.t) * rows_of<E, G>(rows.view) * size_t(width));
        else {
            policies.keep_obs(rows.t, first, rows.count);
            policies.choose(rows.tick, rows.t, first, rows.count, obs_row<E>(rows.view, 0));
        }
        rows.for_own([&](int i) {
            ActionOf<E, G> action;
            policies.act(rows.t, rows.row(i), action);
            rows.give(i, action);
        });
    }
};

template <class E> void rollout_blocks(const View<E>& view, const Arguments& a, Items items) {
    const LoadedPolicies<E> loaded(a);
    rollout<E>(view, items, 0, int(a.steps), RolloutPolicy<E>{a}, record_of<E>(view, a, 0));
}

// Choices of one policy's rows at step a.step of a rollout of one launch a step: an item is an environment.
template <class E, int policy> void choose(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupOf<E, policy>;
    constexpr size_t agents = size_t(count_of<E, G>);
    const LoadedNetworks<E, policy> loaded(a);
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    GroupPolicies<E, G>(view, a).template choose_alone<policy>(size_t(items.begin) * agents,
                                                               size_t(end) * agents);
}
// The values of where its rows stand when the rollout ends.
template <class E, int policy>
void close_rollout(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupOf<E, policy>;
    constexpr size_t agents = size_t(count_of<E, G>);
    if (time_of(view.head, 0).stopped) return;
    const LoadedNetworks<E, policy> loaded(a);
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    GroupPolicies<E, G>(view, a).template finish<policy>(int(a.steps), size_t(items.begin) * agents,
                                                         int((end - items.begin) * agents));
}

// A critic's values of everything that a rollout saw, and of where episodes were cut short: step after step of the
// policy's agents, then the ends.
template <class E, int policy>
void find_own_values(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const uint64_t agents = state.agents, seen = uint64_t(a.steps + 1) * agents,
                   end = min(items.end, seen + uint64_t(a.steps) * agents);
    if (time_of(view.head, 0).stopped) return;
    const LoadedNetworks<E, policy> loaded(a);
    size_t at[rows_together];
    for (uint64_t i = items.begin; i < end;) {
        const bool final = i >= seen;
        int n = 0;
        for (; n < rows_together && i < end && (i >= seen) == final; ++i) {
            const uint64_t k = final ? i - seen : i;
            at[n] = size_t(k / agents) * group_rows<E, policy>(view) +
                    row_of_agent<E, policy>(a, uint32_t(k % agents));
            n += !final || is_cut(memory.flag[at[n]]);
        }
        if (n == 0) continue;
        Inference<E, policy>::here().values(
            n, [&](int k) { return seen_at<E, policy>(a, at[k], final); },
            [](int) -> const float* { return nullptr; },
            [&](int k, float value) {
                (final ? memory.final_value : memory.value)[at[k]] = value;
            });
    }
}

}
