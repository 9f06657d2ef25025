#include "tests/connect_four/opponent.h"
#include "tests/connect_four/plain.h"
#include "tests/connect_four/solver.h"

#include <doctest/doctest.h>

using namespace nacelle::test;
using namespace nacelle::test::four;

namespace {

// A position after so many random stones that nobody has won.
template <class B> B position(Dice& dice, int stones) {
    for (;;) {
        B board;
        while (board.stones() < stones && !board.lost()) {
            int column = dice.below(B::columns);
            while (!board.open(column)) column = dice.below(B::columns);
            board = board.after_column(column);
        }
        if (!board.lost()) return board;
    }
}

template <class B> void hold_against_plain(Dice& dice, int least, int count) {
    Solver<B> solver(14);
    for (int i = 0; i < count; ++i) {
        const B board = position<B>(dice, least + dice.below(B::cells - least + 1));
        CAPTURE(board.own);
        CAPTURE(board.taken);
        REQUIRE(solver.value(board) == Plain<B>(board).value(1));
    }
}

template <class B> int value_of_empty_board() { return Solver<B>(20).value(B()); }

// As Opponent, without cutting anything.
template <class B> int minimax(const B& board, int depth) {
    if (board.lost()) return Opponent<B>::lost - depth;
    if (board.full() || depth == 0) return 0;
    int best = -Opponent<B>::limit;
    for (int column = 0; column < B::columns; ++column)
        if (board.open(column))
            best = std::max(best, -minimax(board.after_column(column), depth - 1));
    return best;
}

// What the first of two opponents gets: 1 a win, half of it a draw.
double game(const Opponent<StandardBoard>& first, const Opponent<StandardBoard>& second,
            Dice& dice) {
    StandardBoard board;
    for (int stone = 0; !board.full(); ++stone) {
        board = board.after_column((stone % 2 ? second : first).choose(board, dice));
        if (board.lost()) return stone % 2 ? 0 : 1;
    }
    return 0.5;
}

}

TEST_CASE("exact values are those of trying everything") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    hold_against_plain<Board<4, 4>>(dice, 4, 150);
    hold_against_plain<Board<5, 4>>(dice, 10, 60);
    hold_against_plain<Board<4, 5>>(dice, 10, 60);
    hold_against_plain<StandardBoard>(dice, 31, 60);
}

// Found by trying everything with a table of all positions, which takes a minute.
TEST_CASE("small boards have the values that are known") {
    CHECK(value_of_empty_board<Board<4, 4>>() == 0);
    CHECK(value_of_empty_board<Board<5, 4>>() == 0);
    CHECK(value_of_empty_board<Board<4, 5>>() == 0);
    CHECK(value_of_empty_board<Board<6, 4>>() == -1);
}

TEST_CASE(
    "a position of twelve stones is worth what its best move is, and so is its mirror image") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    Solver<StandardBoard> solver, another;
    int values[3] = {};
    for (int i = 0; i < 16; ++i) {
        const auto board = position<StandardBoard>(dice, 12 + dice.below(6));
        const int value = solver.value(board);
        ++values[value + 1];
        int best = -1;
        for (int column = 0; column < 7; ++column)
            if (board.open(column)) best = std::max(best, solver.value_of_move(board, column));
        CHECK(value == best);
        CHECK(value == another.value(board.mirrored()));
    }
    CHECK(values[0] > 0);
    CHECK(values[2] > 0);
}

TEST_CASE("an opponent's moves are the best of all that it can see") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int i = 0; i < 60; ++i) {
        const auto board = position<StandardBoard>(dice, dice.below(30));
        const int depth = 1 + i % 4;
        int most = -Opponent<StandardBoard>::limit;
        std::vector<int> best;
        for (const int column : StandardBoard::by_middle()) {
            if (!board.open(column)) continue;
            const int value = -minimax(board.after_column(column), depth - 1);
            if (value > most) best.clear();
            if (value >= most) best.push_back(column);
            most = std::max(most, value);
        }
        CHECK(Opponent<StandardBoard>(depth).best_moves(board) == best);
    }
}

TEST_CASE("who looks further ahead wins more") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Opponent<StandardBoard> one(1), three(3), six(6);
    double against_one = 0, against_three = 0;
    for (int i = 0; i < 30; ++i) {
        against_one += game(three, one, dice) + 1 - game(one, three, dice);
        against_three += game(six, three, dice) + 1 - game(three, six, dice);
    }
    MESSAGE("points of 60: ", against_one, " and ", against_three);
    CHECK(against_one > 40);
    CHECK(against_three > 35);
}
