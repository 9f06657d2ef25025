#pragma once
#include "tests/connect_four/board.h"

#include <vector>

namespace nacelle::test::four {

// What a policy of the environment sees of a position when it is its turn, and what it may do.
inline std::vector<float> observation(const StandardBoard& board) {
    std::vector<float> seen;
    for (const uint64_t stones : {board.own, board.other()})
        for (int column = 0; column < 7; ++column)
            for (int row = 0; row < 6; ++row)
                seen.push_back(float(stones >> (StandardBoard::step * column + row) & 1));
    seen.push_back(1);
    return seen;
}
inline std::vector<uint8_t> mask(const StandardBoard& board) {
    std::vector<uint8_t> open;
    for (int column = 0; column < 7; ++column) open.push_back(board.open(column));
    return open;
}

}
