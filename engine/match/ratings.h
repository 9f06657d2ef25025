#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nacelle {

// What came of the games of two players.
struct PairResult {
    size_t player = 0, against = 0;
    uint64_t won = 0, drawn = 0, lost = 0;    // of `player`

    uint64_t games() const { return won + drawn + lost; }
};

// A player's strength in Elo, and half the width of its 95 % interval.
struct Rating {
    double elo = 0, interval = 0;
};

// Bradley and Terry's model: who is 400 Elo stronger wins ten games for each one that is lost. The ratings of maximum
// likelihood, with a draw as half a won and half a lost game; each pair is given one draw more, so that who won all games
// has a finite rating. `anchor` has `anchor_elo` and no interval: the others' are relative to it. Every player
// must be in the results, and all must be connected by them.
std::vector<Rating> ratings_of(size_t players, std::span<const PairResult> results, size_t anchor,
                               double anchor_elo);

}
