#include "engine/policy/convolve.h"
#include "engine/policy/remember.h"

namespace nacelle {
namespace {

// The observations side by side, normalised; rows that are not there are zero.
NACELLE_INLINE void take_in(const ForwardPass& pass, float* x) {
    const size_t inputs = pass.layers[0].inputs, stride = pass.stride();
    for (size_t k = 0; k < inputs; ++k) {
        float* const to = x + k * stride;
        for (size_t row = pass.rows; row < stride; ++row) to[row] = 0;
        if (pass.mean)
            for (size_t row = 0; row < pass.rows; ++row)
                to[row] = detail::normalised(pass.observations[row * inputs + k], pass.mean[k],
                                             pass.scale[k], pass.bound);
        else
            for (size_t row = 0; row < pass.rows; ++row)
                to[row] = pass.observations[row * inputs + k];
    }
}

template <bool fuses> NACELLE_INLINE const float* run_pass(const ForwardPass& pass) {
    const size_t stride = pass.stride();
    size_t widest = pass.layers[0].inputs;
    const DenseLayer* matrix = pass.layers;
    const auto cell = [&](size_t l) { return pass.cells ? pass.cells[l] : PolicyCell::linear; };
    for (size_t l = 0; l < pass.layer_count; ++l) {
        widest = max(widest, matrix->outputs / gates_of(cell(l)));
        matrix += matrices_of(cell(l));
    }
    if (pass.encoder) widest = max(widest, pass.encoder->widest());
    float *x = pass.scratch, *y = pass.scratch + widest * ForwardPass::most_rows;
    float* const beside = y + widest * ForwardPass::most_rows;
    if (pass.encoder) encode<fuses>(pass, x, y, beside);
    else take_in(pass, x);
    float* memory = pass.memory;
    matrix = pass.layers;
    for (size_t l = 0; l < pass.layer_count; ++l) {
        if (remembers(cell(l))) {
            remember<fuses>(pass, cell(l), matrix, x, y, beside, memory);
            memory += matrix->outputs / gates_of(cell(l));
        } else {
            dense_layer<fuses>(*matrix, x, y, stride);
            if (l + 1 < pass.layer_count) activate(pass.activation, y, matrix->outputs * stride);
        }
        matrix += matrices_of(cell(l));
        swap(x, y);
    }
    return x;
}

#if defined(__x86_64__)
// The same functions once more, for processors of the last ten years: nothing asks for -march.
__attribute__((target("avx2,fma"), flatten)) const float* pass_of_avx2(const ForwardPass& pass) {
    return run_pass<true>(pass);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

#if defined(__FP_FAST_FMAF)
constexpr bool always_fuses = true;
#else
constexpr bool always_fuses = false;
#endif

}

__attribute__((flatten)) const float* forward_anywhere(const ForwardPass& pass) {
    return run_pass<always_fuses>(pass);
}
const float* forward(const ForwardPass& pass) {
#if defined(__x86_64__)
    if (has_avx2()) return pass_of_avx2(pass);
#endif
    return forward_anywhere(pass);
}

}
