#include "tests/env/workbench.h"

#include <array>
#include <bit>
#include <doctest/doctest.h>
#include <map>

// Random openings of Connect Four, by what must hold of them: a reference has no random numbers of ours.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr int columns = 7, rows = 6, games = 4000;

struct Position {
    std::array<uint64_t, 2> stones;
    int to_move, moves, winner;

    int owner(int column, int row) const {
        if (column < 0 || column >= columns || row < 0 || row >= rows) return -1;
        for (int player = 0; player < 2; ++player)
            if (stones[size_t(player)] >> (7 * column + row) & 1) return player;
        return -1;
    }
    int count(int player) const { return std::popcount(stones[size_t(player)]); }
    bool stands() const {
        for (int column = 0; column < columns; ++column)
            for (int row = 1; row < rows; ++row)
                if (owner(column, row) >= 0 && owner(column, row - 1) < 0) return false;
        return (stones[0] & stones[1]) == 0;
    }
    bool has_line() const {
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < rows; ++row)
                for (const auto& [x, y] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
                    const int player = owner(column, row);
                    int length = 0;
                    while (player >= 0 && owner(column + length * x, row + length * y) == player)
                        ++length;
                    if (length >= 4) return true;
                }
        return false;
    }
};

std::vector<Position> begun(const Json& params, bool measures = false) {
    Environment env(
        cpu(), settings_of({{"source", "connect_four"}, {"count", games}, {"params", params}}));
    if (measures) {
        env.set_progress(EpisodeProgress::ended());
        env.reset();
    }
    const std::vector<double> stones = numbers(env, "state.stones"),
                              to_move = numbers(env, "state.to_move"),
                              moves = numbers(env, "state.moves"),
                              winner = numbers(env, "state.winner");
    // The first number of all games, then the second one, or game by game.
    const bool apart = env.schema().find("state.stones")->layout == Layout::columns;
    const auto of = [&](size_t game, size_t player) {
        return uint64_t(stones[apart ? player * games + game : 2 * game + player]);
    };
    std::vector<Position> all;
    for (size_t i = 0; i < games; ++i)
        all.push_back({{of(i, 0), of(i, 1)}, int(to_move[i]), int(moves[i]), int(winner[i])});
    return all;
}

}

TEST_CASE("openings of connect_four are moves by turns after which nobody has won") {
    for (const int opening : {1, 8, 100}) {
        CAPTURE(opening);
        std::map<int, int> of_length, of_starter;
        for (const Position& game : begun({{"opening", opening}})) {
            const int starter = game.moves % 2 ? 1 - game.to_move : game.to_move;
            CHECK(game.count(starter) == (game.moves + 1) / 2);
            CHECK(game.count(1 - starter) == game.moves / 2);
            CHECK(game.moves <= std::min(opening, columns * rows - 1));
            CHECK(game.stands());
            CHECK(!game.has_line());
            CHECK(game.winner == -1);
            ++of_length[game.moves];
            ++of_starter[starter];
        }
        // Drawn evenly; six deviations of a count are allowed. Where many moves are asked, some end sooner.
        const double share = 1.0 / (opening + 1),
                     spread = 6 * std::sqrt(games * share * (1 - share));
        for (int length = 0; length <= std::min(opening, 8); ++length)
            CHECK(std::abs(of_length[length] - games * share) < spread);
        CHECK(std::abs(of_starter[0] - games / 2) < 6 * std::sqrt(games / 4.0));
    }
}
TEST_CASE("evaluations of connect_four begin with an empty board") {
    for (const Position& game : begun({{"opening", 8}}, true))
        CHECK((game.stones[0] | game.stones[1]) == 0);
}
TEST_CASE("without an opening connect_four begins with an empty board") {
    for (const Json& params : {Json::object(), Json{{"opening", -3}}})
        for (const Position& game : begun(params)) CHECK((game.stones[0] | game.stones[1]) == 0);
}
