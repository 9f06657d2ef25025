#pragma once
#include <nacelle/rollout.h>
#include <random_search/arguments.h>
// Cross-entropy search over linear policies: a population is drawn around the mean, every member plays
// its own environments in one launch, and the mean moves to the best members.

namespace random_search {

using namespace nacelle;
using namespace nacelle::detail;
// CUDA has functions of these names at global scope.
using nacelle::max, nacelle::min, nacelle::sqrt, nacelle::tanh;

// One output per choice of a discrete part and one per continuous part, each a weighted sum of the
// observation's numbers and a constant.
template <class E> inline constexpr int inputs = numbers_in<ObsOf<E>> + 1;

template <class E>
NACELLE_INLINE float output(const float* weights, size_t stride, int number, const float* obs) {
    const float* w = weights + size_t(number) * inputs<E> * stride;
    float sum = w[(inputs<E> - 1) * stride];
    NACELLE_UNROLL for (int i = 0; i < inputs<E> - 1; ++i) sum =
        fused(w[size_t(i) * stride], obs[i], sum);
    return sum;
}
template <class E>
NACELLE_INLINE void act_linearly(const float* weights, size_t stride, const float* obs,
                                 const uint8_t* mask, ActionOf<E>& action) {
    int number = 0, base = 0;
    for_each_element(action, [&](auto, int, auto& part) {
        using Part = bare<decltype(part)>;
        if constexpr (form_of<Part> == Form::discrete) {
            float best = -infinity;
            part.value = 0;
            for (int choice = 0; choice < Part::choices; ++choice, ++number) {
                const float value = output<E>(weights, stride, number, obs);
                const bool better = value > best && (!mask || mask[base + choice]);
                best = better ? value : best;
                part.value = better ? choice : part.value;
            }
            base += Part::choices;
        } else
            part.value = Part::low + (Part::high - Part::low) * 0.5f *
                                         (tanh(output<E>(weights, stride, number++, obs)) + 1.0f);
    });
}

// Each environment acts for one member of the population.
template <class E> struct PopulationPolicy {
    const float* weights;
    uint32_t members, episodes, first_env;
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) const {
        rows.for_own([&](int i) {
            // Environments that are left over play nobody's episode, with the last one's weights.
            const size_t member =
                nacelle::min((first_env + rows.env_of(i)) / episodes, size_t(members) - 1);
            ActionOf<E> action;
            act_linearly<E>(weights + member, members, rows.obs(i), rows.mask(i), action);
            rows.give(i, action);
        });
    }
};

// Member 0 is the mean itself, so that its own return is known.
template <class E>
NACELLE_INLINE void propose(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t end = min(items.end, uint64_t(a.weight_count) * a.members);
    for (uint64_t item = items.begin; item < end; ++item) {
        const uint32_t weight = uint32_t(item / a.members), member = uint32_t(item % a.members);
        Rng rng(view.head.seed, Domain::initialisation, view.head.clock->tick, uint32_t(item));
        a.weights[item] = a.mean[weight] + (member ? a.deviation[weight] * rng.normal() : 0.0f);
    }
}
template <class E> NACELLE_INLINE void play(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t envs = view.head.envs, end = min(items.end, envs), first = view.head.first_env;
    for (uint64_t env = items.begin; env < end; ++env) {
        // Those of other ranks stay 0 here, and are added.
        for (uint64_t any = env; any < a.all_envs; any += envs) a.score[any] = 0;
        a.over[env] = first + env >= uint64_t(a.members) * a.episodes;
    }
    Arguments to = a;
    to.score += first;
    PopulationPolicy<E> policy{a.weights, a.members, a.episodes, uint32_t(first)};
    rollout<E>(view, items, 0, int(a.steps), policy,
               [=](const Now& now, const ActionOf<E>&, const Outcome& outcome) {
                   const uint8_t over = to.over[now.env];
                   to.score[now.env] += over ? 0.0f : outcome.reward;
                   to.over[now.env] = over | outcome.terminated.byte | outcome.truncated.byte;
               });
}
template <class E> NACELLE_INLINE void score(const View<E>&, const Arguments& a, Items items) {
    for (uint64_t member = items.begin; member < min(items.end, uint64_t(a.members)); ++member) {
        float sum = 0;
        for (uint32_t i = 0; i < a.episodes; ++i) sum += a.score[member * a.episodes + i];
        a.fitness[member] = sum / float(a.episodes);
    }
}
// How many are better; the earlier of equals goes first.
template <class E> NACELLE_INLINE void order(const View<E>&, const Arguments& a, Items items) {
    for (uint64_t member = items.begin; member < min(items.end, uint64_t(a.members)); ++member) {
        uint32_t better = 0;
        const float mine = a.fitness[member];
        for (uint32_t other = 0; other < a.members; ++other)
            better += a.fitness[other] > mine || (a.fitness[other] == mine && other < member);
        a.rank[member] = better;
    }
}
NACELLE_INLINE void measure(const Arguments& a) {
    float all = 0, elite = 0, best = -infinity, width = 0;
    for (uint32_t member = 0; member < a.members; ++member) {
        all += a.fitness[member];
        best = max(best, a.fitness[member]);
        elite += a.rank[member] < a.elite ? a.fitness[member] : 0.0f;
    }
    for (uint32_t weight = 0; weight < a.weight_count; ++weight) width += a.deviation[weight];
    a.metrics[mean_return] = all / float(a.members);
    a.metrics[best_return] = best;
    a.metrics[elite_return] = elite / float(a.elite);
    a.metrics[policy_return] = a.fitness[0];
    a.metrics[deviation_left] = width / float(a.weight_count);
}
// One item moves one weight to the mean and the spread of the elite.
template <class E> NACELLE_INLINE void update(const View<E>&, const Arguments& a, Items items) {
    for (uint64_t item = items.begin; item < min(items.end, uint64_t(a.weight_count)); ++item) {
        const float* const w = a.weights + item * a.members;
        float sum = 0, squares = 0;
        for (uint32_t member = 0; member < a.members; ++member)
            sum += a.rank[member] < a.elite ? w[member] : 0.0f;
        const float mean = sum / float(a.elite);
        for (uint32_t member = 0; member < a.members; ++member) {
            const float off = w[member] - mean;
            squares += a.rank[member] < a.elite ? times(off, off) : 0.0f;
        }
        a.mean[item] = mean;
        a.deviation[item] = max(sqrt(squares / float(a.elite)), a.least_deviation);
    }
}
template <class E> NACELLE_INLINE void summarise(const View<E>&, const Arguments& a, Items items) {
    if (items.begin == 0) measure(a);
}
template <class E> NACELLE_INLINE void act(const View<E>& view, const Arguments& a, Items items) {
    for (uint64_t env = items.begin; env < min(items.end, uint64_t(view.head.envs)); ++env) {
        ActionOf<E> action;
        act_linearly<E>(a.mean, 1, obs_row<E>(view, size_t(env)), mask_row<E>(view, size_t(env)),
                        action);
        store_row<E>(view.array, slot_of<E>(Role::action), size_t(env), view.head.envs, action);
    }
}

}

#define RANDOM_SEARCH_KERNELS()                                                                    \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_KERNEL(search_propose, random_search::Arguments, 128, random_search::propose)          \
    NACELLE_KERNEL(search_play, random_search::Arguments, 128, random_search::play)                \
    NACELLE_KERNEL(search_score, random_search::Arguments, 128, random_search::score)              \
    NACELLE_KERNEL(search_order, random_search::Arguments, 128, random_search::order)              \
    NACELLE_KERNEL(search_update, random_search::Arguments, 128, random_search::update)            \
    NACELLE_KERNEL(search_summarise, random_search::Arguments, 128, random_search::summarise)      \
    NACELLE_KERNEL(search_act, random_search::Arguments, 128, random_search::act)
