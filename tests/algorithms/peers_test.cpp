#include "algorithms/policy_gradient/run/peer_buffer.h"

#include <atomic>
#include <bit>
#include <doctest/doctest.h>
#include <learn/sums/peers.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

// The exchange of ranks, each of them a thread: the same text that GPUs run. Under the sanitizers this also looks for
// accesses without order.
using namespace learn;

namespace {

// What add_up() sends.
constexpr uint64_t floats = 16, doubles = 1;

class Ranks {
public:
    explicit Ranks(uint32_t count) : peers_(count) {
        PeerBuffer buffer(count);
        buffer.add(0, floats, doubles);
        for (uint32_t rank = 0; rank < count; ++rank)
            memory_.push_back(std::make_unique<std::vector<uint64_t>>(buffer.words()));
        for (uint32_t rank = 0; rank < count; ++rank) {
            Peers& its = peers_[rank];
            its.rank = rank;
            its.count = count;
            its.ended = &ended_;
            its.sums[0] = buffer.of(0);
            for (uint32_t other = 0; other < count; ++other)
                its.memory[other] = memory_[other]->data();
        }
    }
    // fn(peers) by a thread for each rank.
    template <class Fn> void together(Fn&& fn) {
        std::vector<std::thread> threads;
        for (Peers& its : peers_) threads.emplace_back([&] { fn(its); });
        for (std::thread& one : threads) one.join();
    }
    void end() { std::atomic_ref(ended_).store(1); }
    Peers& of(uint32_t rank) { return peers_[rank]; }

private:
    std::vector<Peers> peers_;
    std::vector<std::unique_ptr<std::vector<uint64_t>>> memory_;
    uint32_t ended_ = 0;
};

float term(uint32_t turn, uint32_t word, uint32_t rank) {
    return 0.1f * float(turn) + 1.7f * float(word) + 1e-3f / float(rank + 1);
}
// The tree by another way: from the top down.
template <class Fn> auto tree(uint32_t first, uint32_t count, Fn&& fn) -> decltype(fn(first)) {
    if (count == 1) return fn(first);
    const uint32_t left = std::bit_floor(count - 1);
    return tree(first, left, fn) + tree(first + left, count - left, fn);
}
template <int shots> void add_up(Peers& peers, uint32_t turns) {
    for (uint32_t turn = 0; turn < turns; ++turn) {
        const Exchange exchange(peers, 0);
        float found[8][2];
        for (uint32_t k = 0; k < 8; ++k) {
            found[k][0] = term(turn, 2 * k, peers.rank);
            found[k][1] = term(turn, 2 * k + 1, peers.rank);
            exchange.send<shots>(2 * k, found[k], k);
        }
        const double own = 1.0 / double(turn + peers.rank + 3);
        exchange.send(16, own);
        for (uint32_t k = 0; k < 8; ++k) exchange.sum<shots>(2 * k, found[k], k);
        const double sum =
            tree(0, peers.count, [&](uint32_t rank) { return 1.0 / double(turn + rank + 3); });
        if (exchange.sum(16, own) != sum) FAIL_CHECK("a sum of doubles");
        for (uint32_t word = 0; word < 16; ++word) {
            const float wanted =
                tree(0, peers.count, [&](uint32_t rank) { return term(turn, word, rank); });
            if (found[word / 2][word % 2] != wanted) FAIL_CHECK("a sum of floats");
        }
        Exchange::next_turn(peers, 0);
    }
}

}

TEST_CASE(
    "two, four or eight shards that lie on one rank are a branch of the tree over all of them") {
    std::minstd_rand random(7);
    for (uint32_t count = 1; count <= 40; ++count) {
        std::vector<float> term(count);
        for (float& one : term) one = float(random()) * (random() % 2 ? 1e-9f : -1e-5f);
        const auto sum = [&](uint32_t first, uint32_t n) {
            TreeSum<float, 40> its;
            for (uint32_t i = 0; i < n; ++i) its.add(term[first + i]);
            return its.sum();
        };
        const float all = sum(0, count);
        CHECK(all == tree(0, count, [&](uint32_t i) { return term[i]; }));
        for (uint32_t own = 1; own < count; own *= 2) {
            if (count % own) continue;
            CAPTURE(count);
            CAPTURE(own);
            TreeSum<float, 40> ranks;
            for (uint32_t first = 0; first < count; first += own) ranks.add(sum(first, own));
            CHECK(ranks.sum() == all);
        }
    }
}

TEST_CASE("ranks add up by one tree, in one step and in two, turn after turn") {
    for (const uint32_t count : {1u, 2u, 3u, 5u, 8u, 16u}) {
        CAPTURE(count);
        Ranks ranks(count);
        ranks.together([](Peers& peers) { add_up<1>(peers, 50); });
        ranks.together([](Peers& peers) { add_up<2>(peers, 50); });
        CHECK(ranks.of(0).turns[0] == 100);
    }
}

TEST_CASE(
    "a place has a word for each float and two for each double, in pairs, and overlaps none") {
    PeerBuffer buffer(3);
    buffer.add(5, 3);
    buffer.add(0, 0, 2);
    buffer.add(2, 5, 1);
    const auto is = [&](uint32_t place, uint64_t first, uint64_t words) {
        return buffer.of(place).first == first && buffer.of(place).words == words;
    };
    CHECK(is(5, 0, 4));
    CHECK(is(0, 2 * 4 * 4, 4));    // behind two turns of three ranks' rows and one of sums
    CHECK(is(2, 2 * 4 * 8, 8));
    CHECK(buffer.words() == 2 * 4 * 16);
}

TEST_CASE("numbers of turns may come around") {
    Ranks ranks(2);
    for (uint32_t rank = 0; rank < 2; ++rank) ranks.of(rank).turns[0] = ~0u - 6;
    ranks.together([](Peers& peers) { add_up<1>(peers, 12); });
    CHECK(ranks.of(1).turns[0] == 5);
}

// As GPUs of different sizes do it: each starts blocks in order as soon as it has room for one.
template <int shots> void run_blocks(Peers& peers, uint32_t room) {
    std::atomic<uint32_t> next = 0;
    std::vector<std::thread> places;
    for (uint32_t place = 0; place < room; ++place)
        places.emplace_back([&] {
            for (uint32_t block; (block = next++) < floats;) {
                const Exchange exchange(peers, 0);
                float own[1] = {float(block + peers.rank)};
                exchange.send<shots>(block, own, block);
                exchange.sum<shots>(block, own, block);
                if (own[0] != float(3 * block + 3)) FAIL_CHECK("a block's sum");
            }
        });
    for (std::thread& place : places) place.join();
    Exchange::next_turn(peers, 0);
}

TEST_CASE("more blocks than a GPU has room for end, also where another one has room for more") {
    Ranks ranks(3);
    for (const uint32_t most : {1u, 5u}) {
        ranks.together([&](Peers& peers) { run_blocks<1>(peers, 1 + peers.rank % most); });
        ranks.together([&](Peers& peers) { run_blocks<2>(peers, 1 + peers.rank % most); });
    }
}

TEST_CASE("a rank does not wait for one that is gone, once the host has said so") {
    Ranks ranks(2);
    std::thread one([&] {
        const Exchange exchange(ranks.of(0), 0);
        float own[1] = {1};
        exchange.send<1>(0, own, 0);
        exchange.sum<1>(0, own, 0);
    });
    ranks.end();
    one.join();
}

TEST_CASE("one step carries gradients until two are quicker, and neither carries large ones") {
    CHECK(peer_shots(4865, 2) == 1);
    CHECK(peer_shots(1 << 18, 2) == 1);
    CHECK(peer_shots((1 << 18) + 1, 2) == 0);
    CHECK(peer_shots(4865, 8) == 1);
    CHECK(peer_shots(20000, 8) == 2);
    CHECK(peer_shots(20000, 4) == 1);
}
