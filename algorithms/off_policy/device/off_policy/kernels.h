#pragma once
#include <off_policy/learning.h>
#include <off_policy/seen.h>
#if !NACELLE_GPU
#include <off_policy/cpu/layers.h>
#endif
// The kernels of learners with a replay whose networks are layers of ours. The host writes a Spec with the activation and,
// for a GPU, the planes of numbers, then NACELLE_PROGRAM() and those that there are.

#if NACELLE_GPU
namespace off_policy {
// Products of layers, in blocks of so many columns.
#define OFF_POLICY_PRODUCT(way, columns)                                                           \
    template <class E>                                                                             \
    NACELLE_INLINE void way##_##columns(const View<E>& view, const learn::Products& a,             \
                                        Items items) {                                             \
        learn::way##_product<E, 0, columns>(view, a, items);                                       \
    }
OFF_POLICY_PRODUCT(forward, 64)
OFF_POLICY_PRODUCT(forward, 128)
OFF_POLICY_PRODUCT(backward, 64)
OFF_POLICY_PRODUCT(backward, 128)
OFF_POLICY_PRODUCT(weights, 128)
#undef OFF_POLICY_PRODUCT
}
#endif
#define OFF_POLICY_KERNEL(name, Args, threads, resident)                                           \
    NACELLE_KERNEL_OF(off_policy_##name, Args, threads, resident, off_policy::name)
