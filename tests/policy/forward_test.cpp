#include "engine/policy/forward.h"
#include "tests/support/random.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct alignas(64) Aligned {
    float at[16];
};

// A network of two layers with a row's answer in doubles.
struct Small {
    static constexpr size_t in = 3, hidden = 21, out = 6;
    std::vector<float> numbers, mean, scale;
    PolicyActivation activation;

    Small(Dice& dice, PolicyActivation of) : activation(of) {
        numbers.resize((in + 1) * hidden + (hidden + 1) * out);
        for (float& number : numbers) number = dice.uniform(-1, 1);
        for (size_t k = 0; k < in; ++k) {
            mean.push_back(dice.uniform(-1, 1));
            scale.push_back(dice.uniform(0.5f, 2));
        }
    }
    double bent(double x) const {
        switch (activation) {
            case PolicyActivation::tanh: return std::tanh(x);
            case PolicyActivation::relu: return std::max(x, 0.0);
            case PolicyActivation::silu: return x / (1 + std::exp(-x));
            case PolicyActivation::gelu: break;
        }
        return 0.5 * x *
               (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    }
    std::vector<double> answer(const float* row) const {
        std::vector<double> x(in), y;
        for (size_t k = 0; k < in; ++k)
            x[k] = std::min(std::max((double(row[k]) - mean[k]) * scale[k], -2.0), 2.0);
        const float* at = numbers.data();
        for (const auto& [from, to] : {std::pair(in, hidden), std::pair(hidden, out)}) {
            y.assign(to, 0);
            for (size_t o = 0; o < to; ++o) {
                y[o] = at[from * to + o];
                for (size_t i = 0; i < from; ++i) y[o] += double(at[o * from + i]) * x[i];
                if (to == hidden) y[o] = bent(y[o]);
            }
            at += (from + 1) * to;
            x = y;
        }
        return y;
    }
};

}

TEST_CASE("a network's answers are right for any number of rows, whatever instructions there are") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (const auto activation : {PolicyActivation::tanh, PolicyActivation::relu,
                                  PolicyActivation::silu, PolicyActivation::gelu}) {
        const Small small(dice, activation);
        const float* const second = small.numbers.data() + (Small::in + 1) * Small::hidden;
        const DenseLayer layers[] = {
            {small.numbers.data(), small.numbers.data() + Small::in * Small::hidden, Small::in,
             Small::hidden},
            {second, second + Small::hidden * Small::out, Small::hidden, Small::out}};
        std::vector<Aligned> scratch(ForwardPass::scratch_floats(Small::hidden) / 16);
        for (size_t rows = 1; rows <= ForwardPass::most_rows; rows += 3) {
            std::vector<float> seen(rows * Small::in);
            for (float& number : seen) number = dice.uniform(-3, 3);
            const ForwardPass pass{.observations = seen.data(),
                                   .rows = rows,
                                   .mean = small.mean.data(),
                                   .scale = small.scale.data(),
                                   .bound = 2,
                                   .layers = layers,
                                   .layer_count = 2,
                                   .activation = activation,
                                   .scratch = scratch[0].at};
            for (const auto way : {forward, forward_anywhere}) {
                const float* const found = way(pass);
                double apart = 0;
                for (size_t row = 0; row < rows; ++row) {
                    const std::vector<double> wanted = small.answer(seen.data() + row * Small::in);
                    for (size_t o = 0; o < Small::out; ++o)
                        apart =
                            std::max(apart, std::abs(wanted[o] - found[o * pass.stride() + row]));
                }
                CHECK(apart < 1e-5);
            }
        }
    }
}
