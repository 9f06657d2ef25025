#include <nacelle/device/maths/philox_block.h>
#include <nacelle/episode.h>

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <set>
#include <vector>

using namespace nacelle;

namespace {

using Words = std::array<uint32_t, 4>;

// The block of Philox4x32-10 for a whole counter: our first word is 8 bits of domain and 24 of a block's number,
// which counts up as the stream is drawn from.
Words philox(const Words& counter, uint64_t key) {
    Rng rng(key, Domain(counter[0] >> 24), uint64_t(counter[2]) << 32 | counter[1], counter[3]);
    for (uint32_t skipped = 0; skipped < (counter[0] & 0xffffffu); ++skipped)
        for (int i = 0; i < 4; ++i) rng.bits();
    return {rng.bits(), rng.bits(), rng.bits(), rng.bits()};
}

double chi_square(const std::vector<int>& counts, double expected) {
    double sum = 0;
    for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
    return sum;
}
// How many deviations a chi-square lies from its mean.
double surprise(const std::vector<int>& counts, double expected) {
    const double freedom = double(counts.size()) - 1;
    return (chi_square(counts, expected) - freedom) / std::sqrt(2 * freedom);
}

constexpr int most_draws = 1 << 20;
Rng stream(uint32_t row) { return Rng(7, Domain::policy, 123456789012345ull, row); }

}

TEST_CASE("the generator is Philox4x32-10 by its published vectors") {
    CHECK((philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    CHECK((philox({~0u, ~0u, ~0u, ~0u}, ~uint64_t(0)) ==
           Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ull) ==
           Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("a block of rows has the numbers of each row's own stream") {
    Rng arguments(1, Domain::step, 0, 0);
    for (int trial = 0; trial < 200; ++trial) {
        const uint64_t seed = uint64_t(arguments.bits()) << 32 | arguments.bits();
        uint64_t tick = uint64_t(arguments.bits()) << 32 | arguments.bits();
        if (trial % 3 == 0) tick = arguments.bits();
        const uint32_t row =
            trial % 5 == 0 ? 0xffffffffu - uint32_t(arguments.below(100)) : arguments.bits();
        const Domain domain = Domain(arguments.below(8));
        const int count = 1 + arguments.below(256);
        CAPTURE(seed);
        CAPTURE(tick);
        CAPTURE(row);
        uint32_t words[6][256];
        detail::philox_block(words, seed, domain, tick, row, count);
        bool same = true;
        for (int k = 0; k < count; ++k) {
            Rng rng(seed, domain, tick, row + uint32_t(k));
            for (int i = 0; i < 6; ++i) same = same && words[i][k] == rng.bits();
        }
        CHECK(same);
    }
}

TEST_CASE("below() takes every choice alike") {
    for (const int n : {2, 3, 7, 64, 1000}) {
        CAPTURE(n);
        std::vector<int> counts(size_t(n), 0);
        Rng rng = stream(uint32_t(n));
        for (int i = 0; i < most_draws; ++i) ++counts.at(size_t(rng.below(n)));
        CHECK(std::abs(surprise(counts, double(most_draws) / n)) < 4);
    }
    Rng rng = stream(0);
    for (int i = 0; i < 100; ++i) CHECK(rng.below(1) == 0);
    for (int i = 0; i < 100; ++i) CHECK(rng.below(0x7fffffff) >= 0);
}

TEST_CASE("uniform() fills [0, 1) evenly, also in pairs") {
    std::vector<int> counts(4096, 0), pairs(64 * 64, 0);
    Rng rng = stream(1);
    double sum = 0;
    float low = 1, high = 0, before = 0.5f;
    for (int i = 0; i < most_draws; ++i) {
        const float x = rng.uniform();
        low = std::min(low, x);
        high = std::max(high, x);
        sum += double(x);
        ++counts[size_t(x * 4096)];
        if (i % 2 == 1) ++pairs[size_t(before * 64) * 64 + size_t(x * 64)];
        before = x;
    }
    CHECK(low >= 0);
    CHECK(high < 1);
    CHECK(std::abs(sum / most_draws - 0.5) < 4 / std::sqrt(12.0 * most_draws));
    CHECK(std::abs(surprise(counts, most_draws / 4096.0)) < 4);
    CHECK(std::abs(surprise(pairs, most_draws / 2 / 4096.0)) < 4);
    for (int i = 0; i < 1000; ++i) {
        const float x = rng.uniform(-3.0f, 5.0f);
        CHECK((x >= -3.0f && x < 5.0f));
    }
}

TEST_CASE("the largest uniform number is below one and the smallest is zero") {
    CHECK(uniform_from(0) == 0.0f);
    CHECK(uniform_from(~0u) < 1.0f);
    CHECK(below_from(~0u, 10) == 9);
    CHECK(below_from(0, 10) == 0);
    CHECK(below_from(~0u, 1) == 0);
}

TEST_CASE("normal() has the moments of a normal number and is always finite") {
    Rng rng = stream(2);
    double moment[5] = {};
    int beyond = 0;
    for (int i = 0; i < most_draws; ++i) {
        const double x = double(rng.normal());
        REQUIRE(std::isfinite(x));
        beyond += std::abs(x) > 2;
        for (int k = 1; k <= 4; ++k) moment[k] += std::pow(x, k) / most_draws;
    }
    const double unit = 1 / std::sqrt(double(most_draws));
    CHECK(std::abs(moment[1]) < 4 * unit);
    CHECK(std::abs(moment[2] - 1) < 4 * std::sqrt(2.0) * unit);
    CHECK(std::abs(moment[3]) < 4 * std::sqrt(15.0) * unit);
    CHECK(std::abs(moment[4] - 3) < 4 * std::sqrt(96.0) * unit);
    CHECK(std::abs(beyond / double(most_draws) - 0.0455003) < 4 * std::sqrt(0.0455 / most_draws));
}

TEST_CASE("chance(p) comes true p of the time, never at 0 and always at 1") {
    Rng rng = stream(3);
    int often = 0, never = 0, always = 0;
    for (int i = 0; i < 100000; ++i) {
        often += rng.chance(0.3f);
        never += rng.chance(0.0f);
        always += rng.chance(1.0f);
    }
    CHECK(std::abs(often - 30000) < 580);
    CHECK(never == 0);
    CHECK(always == 100000);
}

TEST_CASE("shuffle() makes every order alike") {
    std::map<std::array<int, 4>, int> orders;
    Rng rng = stream(4);
    for (int i = 0; i < 24000; ++i) {
        std::array<int, 4> list = {0, 1, 2, 3};
        rng.shuffle(list, 4);
        ++orders[list];
    }
    REQUIRE(orders.size() == 24);
    std::vector<int> counts;
    for (const auto& [order, count] : orders) counts.push_back(count);
    CHECK(std::abs(surprise(counts, 1000)) < 4);
}

TEST_CASE("streams of other seeds, domains, ticks, rows and uses share no numbers") {
    std::set<uint32_t> seen;
    int made = 0;
    const auto add = [&](Rng rng) {
        for (int i = 0; i < 8; ++i, ++made) seen.insert(rng.bits());
    };
    for (uint32_t row = 0; row < 8; ++row)
        for (uint32_t domain = 0; domain < 8; ++domain)
            for (const uint64_t tick : {0ull, 1ull, 1ull << 32, (1ull << 32) + 1})
                for (const uint64_t seed : {0ull, 1ull, 1ull << 32}) {
                    add(Rng(seed, Domain(domain), tick, row));
                    add(Rng(seed, Domain(domain), tick, row, 1));
                }
    CHECK(made - int(seen.size()) <
          8);    // of 12,288 numbers of 32 bits, none or one is met twice by chance
}

TEST_CASE("a level's numbers do not depend on the run") {
    const Episode one{.env = 3, .number = 7, .level = 5, .step = 0, .progress = 0.5f},
        other{.env = 9, .number = 1, .level = 5, .step = 4, .progress = 0};
    const Episode next{.env = 3, .number = 7, .level = 6, .step = 0, .progress = 0.5f};
    Rng a = one.level_rng(), b = other.level_rng(), c = next.level_rng();
    const uint32_t first = a.bits();
    CHECK(first == b.bits());
    CHECK(first != c.bits());
}
