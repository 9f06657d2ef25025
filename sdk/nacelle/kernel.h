#pragma once
#include <nacelle/view.h>
// How a kernel around the author's functions is exported, for both backends with one text:
//
//     template <class E> void body(const nacelle::View<E>& view, const MyArgs& args, nacelle::Items items);
//     NACELLE_KERNEL(my_kernel, MyArgs, 128, body)
//
// The host cuts the items into blocks of the given number. On a GPU a thread gets one item, which may
// lie behind the last one; on a CPU a call gets a range of whole blocks.
//
//     NACELLE_KERNEL_OF(my_kernel, MyArgs, 128, 3, body)
//
// is the same with so few registers on a GPU that a multiprocessor has three blocks of it at once.
//
//     NACELLE_ENV_KERNEL(my_rollout, MyArgs, body)
//
// has environments as its items, as many threads for each as the environment wants: the host launches it
// by what the schema says (block_threads, env_threads, shared_bytes, cluster_blocks).
//
//     NACELLE_ENV_KERNEL_OF(my_rollout, MyArgs, 3, body)
//
// has the number of blocks, too; 0 leaves it to the compiler.

namespace nacelle {

struct Items {
    uint64_t begin, end;
};

// What a CPU kernel is called with, its arguments right behind; a GPU kernel has the view in constant
// memory and the arguments as its parameter.
struct alignas(16) Call {
    const void* view;
};

}

#if NACELLE_GPU && !defined(NACELLE_EMULATE)
namespace nacelle::detail {
// A graph sends a kernel to the GPU when the one before it ends in all its blocks (programmatic dependent launch). Here it
// waits until that one's writes are seen. It is not sent earlier (launch_dependents): blocks that wait beside those that
// work cost 4 to 25 % on an H200 (2026-11-24); sent at the end, it saves 2 to 3 %.
NACELLE_INLINE void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
}
// Tells the host that a kernel waits where it begins.
#define NACELLE_WAITS(symbol)                                                                      \
    extern "C" __device__ constinit unsigned char nacelle_waits_##symbol = 1;
// The table is a constant of the module, and the view the one thing that the host writes into it. A part of a program
// whose table is in another part has the view alone.
#define NACELLE_PROGRAM()                                                                          \
    extern "C" __device__ constinit auto nacelle_schema = nacelle::detail::author_schema();        \
    extern "C" __device__ constinit nacelle::ParamsOf<nacelle::Author> nacelle_defaults{};         \
    NACELLE_VIEW()
#define NACELLE_VIEW()                                                                             \
    extern "C" __constant__ constinit nacelle::View<nacelle::Author> nacelle_view{};
#define NACELLE_KERNEL(symbol, Args, per_block, body)                                              \
    NACELLE_KERNEL_OF(symbol, Args, per_block, 1, body)
#define NACELLE_KERNEL_OF(symbol, Args, per_block, at_once, body)                                  \
    NACELLE_WAITS(symbol)                                                                          \
    extern "C" __global__ void __launch_bounds__(per_block, at_once)                               \
        symbol(const __grid_constant__ Args args) {                                                \
        nacelle::detail::await_kernel_before();                                                    \
        const uint64_t item = uint64_t(blockIdx.x) * per_block + threadIdx.x;                      \
        body<nacelle::Author>(nacelle_view, args, nacelle::Items{item, item + 1});                 \
    }
#define NACELLE_ENV_KERNEL(symbol, Args, body) NACELLE_ENV_KERNEL_OF(symbol, Args, 0, body)
#define NACELLE_ENV_KERNEL_OF(symbol, Args, at_once, body)                                         \
    NACELLE_WAITS(symbol)                                                                          \
    extern "C" __global__ void __launch_bounds__(nacelle::detail::Shape<nacelle::Author>::threads, \
                                                 at_once)                                          \
        symbol(const __grid_constant__ Args args) {                                                \
        nacelle::detail::await_kernel_before();                                                    \
        using Form = nacelle::detail::Shape<nacelle::Author>;                                      \
        const uint64_t env = nacelle::detail::env_of_thread<nacelle::Author>(                      \
            uint64_t(blockIdx.x) * Form::threads + threadIdx.x, nacelle_view.head.envs);           \
        body<nacelle::Author>(nacelle_view, args, nacelle::Items{env, env + 1});                   \
    }
#else
#define NACELLE_EXPORT extern "C" __attribute__((visibility("default")))
#define NACELLE_KERNEL_OF(symbol, Args, per_block, at_once, body)                                  \
    NACELLE_KERNEL(symbol, Args, per_block, body)
#define NACELLE_ENV_KERNEL_OF(symbol, Args, at_once, body) NACELLE_ENV_KERNEL(symbol, Args, body)
#define NACELLE_PROGRAM()                                                                          \
    NACELLE_EXPORT constexpr auto nacelle_schema = nacelle::detail::author_schema();               \
    NACELLE_EXPORT constexpr nacelle::ParamsOf<nacelle::Author> nacelle_defaults{};
#define NACELLE_VIEW()    // it comes with each call
#if defined(NACELLE_EMULATE)
#define NACELLE_KERNEL(symbol, Args, per_block, body)                                              \
    NACELLE_EXPORT void symbol(const void* call, uint64_t begin, uint64_t end) {                   \
        const auto& c = *static_cast<const nacelle::Call*>(call);                                  \
        const auto& view = *static_cast<const nacelle::View<nacelle::Author>*>(c.view);            \
        const auto& args = *reinterpret_cast<const Args*>(&c + 1);                                 \
        nacelle::emulate::launch(begin, end, per_block, [&](uint64_t block, uint32_t thread) {     \
            const uint64_t item = block * per_block + thread;                                      \
            body<nacelle::Author>(view, args, nacelle::Items{item, item + 1});                     \
        });                                                                                        \
    }
// The host counts environments in a CPU's blocks: whoever has the first one runs all of a GPU's.
#define NACELLE_ENV_KERNEL(symbol, Args, body)                                                     \
    NACELLE_EXPORT void symbol(const void* call, uint64_t begin, uint64_t) {                       \
        using Form = nacelle::detail::Shape<nacelle::Author>;                                      \
        const auto& c = *static_cast<const nacelle::Call*>(call);                                  \
        const auto& view = *static_cast<const nacelle::View<nacelle::Author>*>(c.view);            \
        const auto& args = *reinterpret_cast<const Args*>(&c + 1);                                 \
        const uint64_t all = uint64_t(view.head.envs) *                                            \
                             nacelle::threads_of_env(nacelle::detail::is_team<nacelle::Author>,    \
                                                     uint32_t(Form::lanes), view.head.envs),       \
                       blocks = begin ? 0 : (all + Form::threads - 1) / Form::threads;             \
        nacelle::emulate::launch(0, blocks, Form::threads, [&](uint64_t block, uint32_t thread) {  \
            const uint64_t env = nacelle::detail::env_of_thread<nacelle::Author>(                  \
                block * Form::threads + thread, view.head.envs);                                   \
            body<nacelle::Author>(view, args, nacelle::Items{env, env + 1});                       \
        });                                                                                        \
    }
#else
#define NACELLE_ENV_KERNEL(symbol, Args, body)                                                     \
    NACELLE_KERNEL(symbol, Args, nacelle::detail::Shape<nacelle::Author>::threads, body)
#define NACELLE_KERNEL(symbol, Args, per_block, body)                                              \
    NACELLE_EXPORT void symbol(const void* call, uint64_t begin, uint64_t end) {                   \
        const auto& c = *static_cast<const nacelle::Call*>(call);                                  \
        body<nacelle::Author>(*static_cast<const nacelle::View<nacelle::Author>*>(c.view),         \
                              *reinterpret_cast<const Args*>(&c + 1),                              \
                              nacelle::Items{begin * per_block, end * per_block});                 \
    }
#endif
#endif
