#include "engine/device/cpu/thread_pool.h"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace nacelle;

namespace {

void count_visits(const void* args, uint64_t begin, uint64_t end) {
    auto* visits = static_cast<uint32_t*>(const_cast<void*>(args));
    for (uint64_t block = begin; block < end; ++block) ++visits[block];
}

void add_pieces(const void* args, uint64_t, uint64_t) {
    auto* pieces = static_cast<std::atomic<int>*>(const_cast<void*>(args));
    ++*pieces;
}

void throw_its_begin(const void*, uint64_t begin, uint64_t) {
    throw std::runtime_error(std::to_string(begin));
}

void sleep_a_little(const void*, uint64_t, uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}

TEST_CASE("every block runs once for any number of blocks and threads") {
    std::mt19937 random(1);
    for (int threads = 1; threads <= 7; ++threads) {
        ThreadPool pool(threads);
        for (int trial = 0; trial < 200; ++trial) {
            const size_t blocks = random() % (trial % 2 ? 12 : 5000);
            std::vector<uint32_t> visits(blocks + 1, 0);
            pool.run(count_visits, visits.data(), blocks);
            const std::vector<uint32_t> once(blocks, 1);
            CHECK(visits.back() == 0);
            visits.pop_back();
            REQUIRE(visits == once);
        }
    }
}

TEST_CASE("no more pieces are cut than there are blocks or threads") {
    ThreadPool pool(4);
    const std::vector<std::pair<uint64_t, int>> cases = {{0, 0}, {1, 1}, {3, 3}, {4, 4}, {900, 4}};
    for (const auto& [blocks, expected] : cases) {
        std::atomic<int> pieces{0};
        pool.run(add_pieces, &pieces, blocks);
        CHECK(pieces == expected);
    }
}

TEST_CASE("a huge number of blocks is cut without overflow") {
    ThreadPool pool(3);
    std::atomic<int> pieces{0};
    pool.run(add_pieces, &pieces, UINT64_MAX);
    CHECK(pieces == 3);
}

TEST_CASE("workers that fell asleep wake up again") {
    ThreadPool pool(3);
    for (int trial = 0; trial < 5; ++trial) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        std::atomic<int> pieces{0};
        pool.run(add_pieces, &pieces, 3);
        CHECK(pieces == 3);
        pool.run(sleep_a_little, nullptr, 3);
    }
}

TEST_CASE("of several exceptions the one of the first blocks is thrown, and the pool goes on") {
    ThreadPool pool(4);
    for (int trial = 0; trial < 20; ++trial) {
        std::string thrown;
        try {
            pool.run(throw_its_begin, nullptr, 100);
        } catch (const std::runtime_error& error) {
            thrown = error.what();
        }
        CHECK(thrown == "0");
    }
    std::atomic<int> pieces{0};
    pool.run(add_pieces, &pieces, 100);
    CHECK(pieces == 4);
}

TEST_CASE("several threads may share a pool") {
    ThreadPool pool(3);
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int caller = 0; caller < 3; ++caller) {
        callers.emplace_back([&] {
            for (int trial = 0; trial < 200; ++trial) {
                std::vector<uint32_t> visits(37, 0);
                pool.run(count_visits, visits.data(), visits.size());
                if (visits != std::vector<uint32_t>(37, 1)) ++wrong;
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
}
