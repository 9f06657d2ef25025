#pragma once
#include "engine/match/arena.h"
#include "engine/match/ratings.h"

namespace nacelle {

// What came of two players' games: half of them are played with the sides exchanged, from the same beginnings.
struct Meeting {
    // Of the first player. Where both sides are alike each game counts: the side with more reward has won it. Where
    // sides are roles a round counts, a game and the same with the sides exchanged: who has more reward in both.
    uint64_t won = 0, drawn = 0, lost = 0;
    uint64_t games = 0, unfinished = 0;
    uint64_t different = 0;    // games that are not the same as another one
    // Of each player on each side, for an agent of it.
    std::array<std::array<std::vector<double>, 2>, 2> returns;
};

// `settings.games` are those before the sides are exchanged.
Meeting meet(Arena& arena, const Player& first, const Player& second, const GameSettings& settings);

}
