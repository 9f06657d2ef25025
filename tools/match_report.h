#pragma once
#include "engine/match/meeting.h"

namespace nacelle::tools {

// All that a match found.
struct MatchReport {
    struct Pair {
        size_t player = 0, against = 0;
        Meeting meeting;
    };
    std::string environment, place;    // "the CPU"
    Sides sides;
    GameSettings settings;
    std::vector<std::string> players;
    std::vector<Pair> pairs;
    size_t anchor = 0;    // whose rating is given
    std::vector<Rating> ratings;
};

void print_match(const MatchReport& report);
void print_match_json(const MatchReport& report);

}
