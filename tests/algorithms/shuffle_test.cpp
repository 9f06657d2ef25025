#include "tests/algorithms/order.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>
#include <learn/formulas/shuffle.h>

using namespace nacelle;
using namespace nacelle::test;

namespace nacelle::test {

std::vector<uint32_t> shuffled(uint32_t n, uint64_t seed, uint64_t iteration, uint32_t epoch,
                               uint32_t stream) {
    const learn::Shuffle shuffle(n, seed, iteration, epoch, stream);
    std::vector<uint32_t> order(n);
    for (uint32_t i = 0; i < n; ++i) order[i] = shuffle(i);
    return order;
}

}

TEST_CASE("a shuffle meets every number once, whatever their count") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    for (const uint32_t n :
         {1u, 2u, 3u, 4u, 5u, 7u, 63u, 64u, 65u, 1000u, 4097u, 131072u, 200001u}) {
        CAPTURE(n);
        std::vector<bool> met(n);
        bool within = true;
        for (const uint32_t x : shuffled(n, seed)) {
            within = within && x < n && !met[x];
            if (x < n) met[x] = true;
        }
        CHECK(within);
    }
}
TEST_CASE("every epoch, iteration, policy and seed has an order of its own") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const auto first = shuffled(1000, seed);
    CHECK(first == shuffled(1000, seed));
    CHECK(first != shuffled(1000, seed + 1));
    CHECK(first != shuffled(1000, seed, 1));
    CHECK(first != shuffled(1000, seed, 0, 1));
    CHECK(first != shuffled(1000, seed, 0, 0, 1));
    CHECK(shuffled(1000, seed, 1, 0) != shuffled(1000, seed, 0, 1));
}
TEST_CASE("minibatches are fair samples: nothing of the old order is left in the new one") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    constexpr uint32_t minibatches = 4, epochs = 100, eighths = 8;
    for (const uint32_t n : {1000u, 4096u, 20000u, 131072u}) {
        CAPTURE(n);
        double means = 0, worst = 0, spreads = 0, neighbours = 0;
        for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
            const auto order = shuffled(n, seed, 7, epoch);
            for (uint32_t m = 0; m < minibatches; ++m) {
                const uint32_t begin = n * m / minibatches, end = n * (m + 1) / minibatches;
                double sum = 0, in[eighths] = {};
                for (uint32_t i = begin; i < end; ++i) {
                    sum += double(order[i]);
                    in[uint64_t(order[i]) * eighths / n] += 1;
                }
                // What the mean and the counts of a quarter drawn by chance would do.
                const double count = double(end - begin), left = 1 - count / n,
                             deviation = double(n) * std::sqrt(left / (12 * count)),
                             off = std::abs(sum / count - (n - 1) / 2.0) / deviation;
                means += off * off / (epochs * minibatches);
                worst = std::max(worst, off);
                for (const double there : in)
                    spreads += std::pow(there - count / eighths, 2) / (count / eighths * left) /
                               (epochs * minibatches * (eighths - 1));
            }
            for (uint32_t i = 1; i < n; ++i)
                neighbours += std::abs(int64_t(order[i]) - int64_t(order[i - 1])) == 1;
        }
        CHECK(means > 0.6);
        CHECK(means < 1.6);
        CHECK(worst < 15);
        CHECK(spreads > 0.6);
        CHECK(spreads < 1.6);
        CHECK(neighbours / epochs < 20);    // by chance 2
    }
}
