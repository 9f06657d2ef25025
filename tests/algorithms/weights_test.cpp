#include "algorithms/policy_gradient/plan/networks.h"
#include "tests/algorithms/told.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>

// The weights that a policy begins with.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// The largest product of two of some rows, or columns, of a hidden layer that has as many outputs as inputs, and how far
// the squares of one of them are from 1.
void hold_orthogonal(const learn::NetworkShape& shape, const std::vector<float>& weights,
                     size_t width, double gain) {
    const float* const layer = weights.data() + (size_t(shape.actor[0]) + 1) * width;
    for (const size_t down : {size_t(1), width})
        for (const size_t i : {size_t(0), width / 3, width - 1})
            for (const size_t j : {size_t(0), width / 2, width - 1}) {
                double product = 0;
                for (size_t k = 0; k < width; ++k)
                    product += double(layer[i * down + k * (width / down)]) *
                               double(layer[j * down + k * (width / down)]);
                CAPTURE(width);
                CHECK(std::abs(product / (gain * gain) - (i == j)) < 1e-5);
            }
}

}

TEST_CASE("the filters of a convolution begin orthogonal") {
    Environment env(cpu(1), recommended("rooms", 4));
    const Told told(env, 90);
    learn::PolicySettings policy;
    policy.agents = 1;
    policy.deviation = "free";
    policy.hidden_gain = 1.3;
    policy.convolutions = {{.channels = 16, .rows = 3, .columns = 3}};
    const learn::NetworkShape shape(policy, told.environment);
    CHECK(shape.actor.front() == 9 * 9 * 16 + 4);
    const std::vector<float> weights = learn::initial_weights(shape, policy, fresh_seed(), 0);
    REQUIRE(weights.size() == size_t(shape.parameters()));
    for (size_t i = 0; i < 16; ++i) {
        for (size_t j = 0; j < 16; ++j) {
            double product = 0;
            for (size_t k = 0; k < 27; ++k)
                product += double(weights[27 * i + k]) * double(weights[27 * j + k]);
            CHECK(std::abs(product / (1.3 * 1.3) - (i == j)) < 1e-5);
        }
        CHECK(weights[27 * 16 + i] == 0);
    }
}

TEST_CASE("hidden layers begin orthogonal, large ones too, and no two of their weights alike") {
    Environment env(cpu(1), recommended("cartpole", 4));
    const Told told(env, 90);
    for (const int64_t width : {7, 512, 700}) {
        learn::PolicySettings policy;
        policy.agents = 1;
        policy.hidden = {width, width};
        policy.cells = {learn::Cell::linear, learn::Cell::linear};
        policy.deviation = "free";
        policy.hidden_gain = 1.3;
        const learn::NetworkShape shape(policy, told.environment);
        const std::vector<float> weights = learn::initial_weights(shape, policy, fresh_seed(), 0);
        REQUIRE(weights.size() == size_t(shape.parameters()));
        hold_orthogonal(shape, weights, size_t(width), 1.3);
        // As numbers of a normal distribution have it: the mean of their fourth powers is 3 where that of squares is 1.
        double fourth = 0;
        const size_t first = (size_t(shape.actor[0]) + 1) * size_t(width),
                     count = size_t(width * width);
        for (size_t i = first; i < first + count; ++i)
            fourth += std::pow(double(weights[i]) / 1.3, 4) * double(width) * double(width) /
                      double(count);
        if (width > 100) CHECK(std::abs(fourth - 3) < 0.6);
    }
}
