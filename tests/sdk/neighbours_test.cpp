#include "tests/support/random.h"

#include <nacelle/neighbours.h>

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <vector>

// Grids of cells and lists of the nearest, against the plainest way to say the same.
using namespace nacelle;
using namespace nacelle::test;

namespace {

template <class Grid> std::vector<int> by_cell(int cell) {
    std::vector<int> visited;
    Grid::around(cell, [&](int one) { visited.push_back(one); });
    return visited;
}
template <class Grid> std::vector<int> by_run(int cell) {
    std::vector<int> visited;
    Grid::around(cell, [&](int first, int end) {
        CHECK(first < end);
        for (int one = first; one < end; ++one) visited.push_back(one);
    });
    return visited;
}
// Row by row, in each from x - 1 to x + 1.
template <int W, int H> std::vector<int> around(int cell, bool wraps) {
    std::vector<int> wanted;
    for (int y = cell / W - 1; y <= cell / W + 1; ++y)
        for (int x = cell % W - 1; x <= cell % W + 1; ++x)
            if (wraps || (x >= 0 && x < W && y >= 0 && y < H))
                wanted.push_back((y + H) % H * W + (x + W) % W);
    return wanted;
}
template <int W, int H> void check_torus() {
    CAPTURE(W);
    CAPTURE(H);
    CHECK(Torus<W, H>::cells == W * H);
    for (int cell = 0; cell < W * H; ++cell) {
        CAPTURE(cell);
        const std::vector<int> wanted = around<W, H>(cell, true);
        CHECK(by_cell<Torus<W, H>>(cell) == wanted);
        CHECK(by_run<Torus<W, H>>(cell) == wanted);
    }
}
template <int W, int H> void check_box() {
    CAPTURE(W);
    CAPTURE(H);
    CHECK(Box<W, H>::cells == W * H);
    for (int cell = 0; cell < W * H; ++cell) {
        CAPTURE(cell);
        const std::vector<int> wanted = around<W, H>(cell, false);
        CHECK(by_cell<Box<W, H>>(cell) == wanted);
        CHECK(by_run<Box<W, H>>(cell) == wanted);
    }
}

template <int K, class Id> void check_nearest(Dice& dice) {
    const int offers = dice.below(3 * K + 2), kinds = 1 + dice.below(12);
    Nearest<K, Id> near;
    std::vector<std::pair<float, int>> all;
    for (int i = 0; i < offers; ++i) {
        const float key = 0.25f * float(dice.below(kinds));    // many ties
        near.offer(Id(i), key);
        all.emplace_back(key, i);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    all.resize(std::min<size_t>(all.size(), K));
    std::vector<std::pair<float, int>> found;
    for (int i = 0; i < near.count; ++i) found.emplace_back(near.key[i], near.id[i]);
    CHECK(found == all);
    for (int i = near.count; i < K; ++i) CHECK(near.id[i] == -1);
    std::vector<std::pair<float, int>> walked;
    near.each([&](int place, Id id) {
        CHECK(place == int(walked.size()));
        walked.emplace_back(near.key[place], id);
    });
    CHECK(walked == all);
}

// Keys of few kinds or of many, some of them negative, zeros of both signs, or no numbers.
std::vector<float> keys_of(Dice& dice, int count) {
    const int kinds = dice.below(2) ? 1 + dice.below(12) : 100000, left_out = dice.below(11);
    std::vector<float> keys;
    for (int i = 0; i < count; ++i) {
        float key = 0.25f * float(dice.below(kinds));
        if (dice.below(10) < left_out) key = -1 - key;
        if (dice.below(20) == 0) key = -0.0f;
        if (dice.below(40) == 0) key = std::numeric_limits<float>::quiet_NaN();
        if (dice.below(40) == 0) key = std::numeric_limits<float>::infinity();
        keys.push_back(key);
    }
    if (dice.below(4) == 0) std::sort(keys.begin(), keys.end(), std::greater<float>());
    return keys;
}
template <int K, int count> void check_nearest_of(Dice& dice) {
    CAPTURE(K);
    CAPTURE(count);
    const std::vector<float> keys = keys_of(dice, count);
    std::vector<std::pair<float, int>> wanted;
    for (int i = 0; i < count; ++i)
        if (keys[size_t(i)] >= 0 && keys[size_t(i)] < 3.4e38f)
            wanted.emplace_back(keys[size_t(i)], i);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    wanted.resize(std::min<size_t>(wanted.size(), K));
    const auto key = [&](int i) { return keys.at(size_t(i)); };
    for (const Nearest<K>& near : {nacelle::detail::nearest_by_offers<K, count>(key),
                                   nacelle::detail::nearest_by_bound<K, count>(key)}) {
        std::vector<std::pair<float, int>> found;
        for (int i = 0; i < near.count; ++i) found.emplace_back(near.key[i], near.id[i]);
        CHECK(found == wanted);
        for (int i = near.count; i < K; ++i) CHECK(near.id[i] == -1);
    }
}

}

TEST_CASE("a torus visits a cell and its eight neighbours once and in order, over its seams") {
    check_torus<3, 3>();
    check_torus<3, 7>();
    check_torus<5, 3>();
    check_torus<8, 6>();
}

TEST_CASE("a box visits the neighbours that there are") {
    check_box<1, 1>();
    check_box<1, 5>();
    check_box<4, 1>();
    check_box<2, 2>();
    check_box<3, 3>();
    check_box<7, 5>();
}

TEST_CASE("a point lies in the cell that its coordinates name") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int trial = 0; trial < 2000; ++trial) {
        const float x = dice.uniform(0, 1), y = dice.uniform(0, 1);
        const int wanted = int(y * 5) * 7 + int(x * 7);
        CHECK(Torus<7, 5>::cell(x, y) == wanted);
        CHECK(Box<7, 5>::cell(x, y) == wanted);
    }
    // What lies on or beyond the rim belongs to the cell at the rim.
    CHECK(Torus<7, 5>::cell(1.0f, 1.0f) == 34);
    CHECK(Box<7, 5>::cell(-0.5f, 2.0f) == 28);
}

TEST_CASE("the nearest are those of a sort, ties in the order in which they were offered") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int trial = 0; trial < 300; ++trial) {
        check_nearest<1, int>(dice);
        check_nearest<2, Spot>(dice);
        check_nearest<5, int>(dice);
        check_nearest<5, Spot>(dice);
        check_nearest<16, int>(dice);
    }
}

TEST_CASE("the nearest of many are those of a sort, with a bound or without one") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int trial = 0; trial < 100; ++trial) {
        check_nearest_of<1, 5>(dice);
        check_nearest_of<3, 2>(dice);
        check_nearest_of<4, 32>(dice);
        check_nearest_of<10, 105>(dice);
        check_nearest_of<10, 128>(dice);
        check_nearest_of<5, 129>(dice);
        check_nearest_of<4, 1003>(dice);
    }
}

TEST_CASE("a spot stands for an id and knows a place") {
    using Places = nacelle::detail::Places;
    for (const int id : {0, 1, 255, 16383, 32767}) {
        CHECK(int(Spot(id)) == id);
        for (const int place : {0, 77, 16383, 32767}) {
            CHECK(int(Places::spot(id, place)) == id);
            CHECK(Places::place(Places::spot(id, place)) == place);
        }
    }
    CHECK(Spot() == -1);
    const Spot nobody[2] = {};
    CHECK(nobody[1] == -1);
}
