#pragma once
#include <learn/formulas/external.h>
#include <learn/formulas/observed.h>
#if NACELLE_GPU
#include <learn/gpu/rollout/one_agent.h>
#endif
// What a draft needs of kernels.h, since its rollouts have a launch for each step: reading the rest would take a tenth of
// its compile.

namespace learn {

// Who of a group follows which policy, in the order of their numbers.
template <class E> NACELLE_INLINE void enlist(const View<E>&, const Arguments& a, Items items) {
    if (items.begin != 0) return;
    for_each_policy<E>([&]<int policy>() {
        int n = 0;
        for (int id = 0; id < count_of<E, GroupOf<E, policy>>; ++id)
            if (policy_of<E>(Spec<policy>::group, id) == policy)
                const_cast<int32_t*>(a.policy[policy].agent_ids)[n++] = id;
    });
}

}

// A function with more parameters than the environment, under a name that takes it alone: kernels are such templates.
#define LEARN_KERNEL(symbol, Args, threads, resident, ...)                                         \
    namespace learn {                                                                              \
    template <class E>                                                                             \
    NACELLE_INLINE void symbol##_body(const View<E>& view, const Args& a, Items items) {           \
        __VA_ARGS__(view, a, items);                                                               \
    }                                                                                              \
    }                                                                                              \
    NACELLE_KERNEL_OF(learn_##symbol, learn::Args, threads, resident, learn::symbol##_body)
// A kernel whose blocks are clusters of so many, where there are such.
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
#define LEARN_CLUSTER_KERNEL(symbol, Args, together, threads, resident, ...)                       \
    extern "C" __global__ void __cluster_dims__(together, 1, 1)                                    \
        learn_##symbol(const __grid_constant__ learn::Args args);                                  \
    LEARN_KERNEL(symbol, Args, threads, resident, __VA_ARGS__)
#else
#define LEARN_CLUSTER_KERNEL(symbol, Args, together, threads, resident, ...)                       \
    LEARN_KERNEL(symbol, Args, threads, resident, __VA_ARGS__)
#endif
#define LEARN_ENV_KERNEL(symbol) NACELLE_ENV_KERNEL(learn_##symbol, learn::Arguments, learn::symbol)
#define LEARN_RESIDENT_TEAM_KERNEL(symbol)                                                         \
    NACELLE_ENV_KERNEL_OF(learn_##symbol, learn::Arguments, 1, learn::symbol)
#define LEARN_TEAM_KERNEL(symbol)                                                                  \
    NACELLE_ENV_KERNEL_OF(learn_##symbol, learn::Arguments, learn::team_blocks<nacelle::Author>,   \
                          learn::symbol)
