#pragma once
#include <nacelle/device/policy/activation.h>
#include <nacelle/device/policy/choose.h>
// A trained policy on a GPU, without an environment: one program for every network. A block takes a tile of rows
// through all layers. Sums run in the order of a CPU with fused multiply-adds, and so do the numbers.

namespace nacelle {

// A dense layer for a GPU: weights [inputs][width], biases [width], where `width` is the number of outputs rounded up
// to fours; what is not there is 0.
struct ActLayer {
    const float *weights, *biases;
    uint32_t inputs, width;
};

struct ActArgs {
    // Threads of a block; rows and outputs that a thread works out together.
    static constexpr uint32_t threads = 256, together = 4;
    // Of the numbers of one neuron in a tile: so that neighbours lie in other banks.
    static constexpr uint32_t spare = 4;

    const float* observations;    // [rows][inputs]
    const uint8_t* masks;         // [rows][choices], or null: all is open
    float* actions;               // [rows][parts]
    uint64_t rows;
    uint32_t tile;    // rows of a block, a multiple of `together`

    uint32_t inputs, layer_count;
    const ActLayer* layers;
    const float *mean, *scale;    // of each input; null: seen as they are
    float bound;                  // of a normalised number
    PolicyActivation activation;
    uint32_t widest;    // neurons of a layer, inputs too, rounded up to fours
    ActionForm form;

    bool draws;
    uint64_t seed, step, noise_steps;

    // Bytes of shared memory that a block of the emulation may have.
    static constexpr uint32_t emulated_bytes = 1 << 16;
    // Bytes of a block's shared memory: a layer's inputs and its outputs.
    static constexpr uint64_t shared_bytes(uint64_t widest, uint64_t tile) {
        return 2 * widest * (tile + spare) * sizeof(float);
    }
};

#if NACELLE_GPU
namespace detail {

struct alignas(16) Four {
    float at[4];
};
NACELLE_INLINE Four four_at(const float* place) { return *reinterpret_cast<const Four*>(place); }

// The tile's observations side by side, normalised; rows that are not there are zero.
NACELLE_INLINE void take_in_tile(const ActArgs& args, uint64_t first, float* x) {
    const uint32_t stride = args.tile + ActArgs::spare;
    for (uint32_t at = threadIdx.x; at < args.inputs * args.tile; at += ActArgs::threads) {
        const uint32_t row = at / args.inputs, k = at % args.inputs;
        float seen = 0;
        if (first + row < args.rows) {
            seen = args.observations[(first + row) * args.inputs + k];
            if (args.mean) seen = normalised(seen, args.mean[k], args.scale[k], args.bound);
        }
        x[k * stride + row] = seen;
    }
}

// One layer of a tile. A thread works out four outputs of four rows at a time.
template <class Bend>
NACELLE_INLINE void dense_tile(const ActArgs& args, const ActLayer& layer, const float* x, float* y,
                               Bend bend) {
    constexpr uint32_t together = ActArgs::together;
    const uint32_t stride = args.tile + ActArgs::spare, across = args.tile / together,
                   items = across * (layer.width / together);
    for (uint32_t item = threadIdx.x; item < items; item += ActArgs::threads) {
        const uint32_t row = item % across * together, out = item / across * together;
        const Four bias = four_at(layer.biases + out);
        Four sum[together];
        NACELLE_UNROLL for (uint32_t o = 0; o < together; ++o) {
            NACELLE_UNROLL for (uint32_t r = 0; r < together; ++r) sum[o].at[r] = bias.at[o];
        }
        NACELLE_FOURFOLD for (uint32_t i = 0; i < layer.inputs; ++i) {
            const Four weight = four_at(layer.weights + size_t(i) * layer.width + out),
                       in = four_at(x + i * stride + row);
            NACELLE_UNROLL for (uint32_t o = 0; o < together; ++o) {
                NACELLE_UNROLL for (uint32_t r = 0; r < together; ++r) sum[o].at[r] =
                    fused(weight.at[o], in.at[r], sum[o].at[r]);
            }
        }
        NACELLE_UNROLL for (uint32_t o = 0; o < together; ++o) {
            NACELLE_UNROLL for (uint32_t r = 0; r < together; ++r) sum[o].at[r] =
                bend(sum[o].at[r]);
            *reinterpret_cast<Four*>(y + (out + o) * stride + row) = sum[o];
        }
    }
}

NACELLE_INLINE void act_row(const ActArgs& args, uint64_t row, const RowOutputs& out) {
    const uint8_t* const mask = args.masks ? args.masks + row * args.form.choices : nullptr;
    float* const action = args.actions + row * args.form.count;
    if (args.draws) {
        RowDice dice(args.seed, args.step, uint32_t(row), args.noise_steps);
        drawn_action(args.form, out, mask, dice, action);
    } else best_action(args.form, out, mask, action);
}

// All that a block does.
inline void act_tile(const ActArgs& args, float* shared) {
    const uint64_t first = uint64_t(blockIdx.x) * args.tile;
    const uint32_t stride = args.tile + ActArgs::spare;
    float *x = shared, *y = shared + args.widest * stride;
    take_in_tile(args, first, x);
    __syncthreads();
    for (uint32_t l = 0; l < args.layer_count; ++l) {
        const ActLayer layer = args.layers[l];
        if (l + 1 == args.layer_count) dense_tile(args, layer, x, y, [](float sum) { return sum; });
        else
            with_activation(args.activation, [&](auto activation) {
                dense_tile(args, layer, x, y, [&](float sum) { return activation.at(sum); });
            });
        __syncthreads();
        swap(x, y);
    }
    for (uint32_t row = threadIdx.x; row < args.tile && first + row < args.rows;
         row += ActArgs::threads)
        act_row(args, first + row, RowOutputs{x + row, stride});
}

}
#endif

}

#if defined(NACELLE_EMULATE)
#define NACELLE_ACT()                                                                              \
    namespace {                                                                                    \
    alignas(16) float nacelle_act_shared[nacelle::ActArgs::emulated_bytes / sizeof(float)];        \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) void nacelle_act(                            \
        const void* args, uint64_t begin, uint64_t end) {                                          \
        nacelle::emulate::launch(begin, end, nacelle::ActArgs::threads, [&](uint64_t, uint32_t) {  \
            nacelle::detail::act_tile(*static_cast<const nacelle::ActArgs*>(args),                 \
                                      nacelle_act_shared);                                         \
        });                                                                                        \
    }
#elif NACELLE_GPU
#define NACELLE_ACT()                                                                              \
    extern "C" __shared__ __align__(16) float nacelle_act_shared[];                                \
    extern "C" __global__ void __launch_bounds__(nacelle::ActArgs::threads)                        \
        nacelle_act(const __grid_constant__ nacelle::ActArgs args) {                               \
        nacelle::detail::act_tile(args, nacelle_act_shared);                                       \
    }
#endif
