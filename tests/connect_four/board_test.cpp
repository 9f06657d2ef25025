#include "tests/connect_four/plain.h"
#include "tests/connect_four/seen.h"
#include "tests/env/workbench.h"
#include "tests/support/random.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;
using namespace nacelle::test::four;

namespace {

template <class B> void compare_with_plain(Dice& dice) {
    for (int game = 0; game < 200; ++game)
        for (B board; !board.full() && !board.lost();) {
            const Plain<B> plain(board);
            REQUIRE(!plain.has_four(-1));
            for (int x = 0; x < B::columns; ++x) {
                const int height = plain.height(x);
                REQUIRE(board.open(x) == (height < B::rows));
                if (board.open(x))
                    REQUIRE(board.landing(x) == uint64_t(1) << (x * B::step + height));
                for (int y = height; y < B::rows; ++y)
                    for (const int who : {1, -1}) {
                        Plain<B> tried = plain;
                        tried.cell[x][y] = who;
                        const uint64_t threats =
                            who == 1 ? board.own_completing() : board.other_completing();
                        REQUIRE(bool(threats >> (x * B::step + y) & 1) == tried.has_four(who));
                    }
            }
            int column = dice.below(B::columns);
            while (!board.open(column)) column = dice.below(B::columns);
            board = board.after_column(column);
            REQUIRE(board.lost() == Plain<B>(board).has_four(-1));
            REQUIRE(board.mirrored().mirrored().key() == board.key());
            REQUIRE(board.mirrored().lost() == board.lost());
        }
}

}

TEST_CASE("lines, and cells that would complete one, are those of plain arrays") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    compare_with_plain<StandardBoard>(dice);
    compare_with_plain<Board<4, 4>>(dice);
    compare_with_plain<Board<5, 7>>(dice);
}

TEST_CASE("a policy sees of a position what the environment shows it") {
    Environment env(quick_cpu(),
                    settings_of({{"source", "connect_four"}, {"count", 32}}, fresh_seed() >> 12));
    std::vector<StandardBoard> boards(env.count());
    Dice dice(fresh_seed());
    int ended = 0;
    for (int step = 0; step < 60; ++step) {
        const std::vector<double> turn = numbers(env, "turn"), seen = numbers(env, "obs"),
                                  open = numbers(env, "mask");
        std::vector<double> columns(2 * env.count());
        for (size_t e = 0; e < env.count(); ++e) {
            const size_t row = 2 * e + (turn[2 * e] != 0);    // who acts
            const std::vector<float> mine = observation(boards[e]);
            const std::vector<uint8_t> may = mask(boards[e]);
            for (size_t k = 0; k < 85; ++k) REQUIRE(seen[85 * row + k] == double(mine[k]));
            int column = dice.below(7);
            while (!boards[e].open(column)) column = dice.below(7);
            for (size_t k = 0; k < 7; ++k) REQUIRE(open[7 * row + k] == double(may[k]));
            columns[row] = column;
            boards[e] = boards[e].after_column(column);
        }
        write_numbers(env, "action.column", columns);
        env.step();
        const std::vector<double> over = numbers(env, "terminated"),
                                  reward = numbers(env, "reward");
        for (size_t e = 0; e < env.count(); ++e) {
            const size_t row = 2 * e + (turn[2 * e] != 0);
            REQUIRE(bool(over[e]) == (boards[e].lost() || boards[e].full()));
            REQUIRE(reward[row] == double(boards[e].lost()));
            if (over[e]) boards[e] = {};
            ended += over[e] != 0;
        }
    }
    CHECK(ended > 32);
}
