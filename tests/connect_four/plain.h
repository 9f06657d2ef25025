#pragma once
#include "tests/connect_four/board.h"

#include <algorithm>

// The same rules in the plainest way, to hold the bits against.
namespace nacelle::test::four {

// A cell is 0 free, 1 of who moves, -1 of the other.
template <class B> struct Plain {
    int cell[B::columns][B::rows]{};

    explicit Plain(const B& board) {
        for (int x = 0; x < B::columns; ++x)
            for (int y = 0; y < B::rows; ++y) {
                const uint64_t bit = uint64_t(1) << (x * B::step + y);
                cell[x][y] = board.own & bit ? 1 : board.taken & bit ? -1 : 0;
            }
    }
    int at(int x, int y) const {
        return x < 0 || y < 0 || x >= B::columns || y >= B::rows ? 0 : cell[x][y];
    }
    bool has_four(int who) const {
        for (int x = 0; x < B::columns; ++x)
            for (int y = 0; y < B::rows; ++y)
                for (const auto& [dx, dy] : {std::pair(1, 0), {0, 1}, {1, 1}, {1, -1}}) {
                    int count = 0;
                    for (int i = 0; i < 4; ++i) count += at(x + i * dx, y + i * dy) == who;
                    if (count == 4) return true;
                }
        return false;
    }
    int height(int x) const {
        int y = 0;
        while (y < B::rows && cell[x][y]) ++y;
        return y;
    }
    // 1, 0 or -1 for `who` moves, by trying everything.
    int value(int who) {
        if (has_four(-who)) return -1;
        int best = -2;
        for (int x = 0; x < B::columns && best < 1; ++x) {
            const int y = height(x);
            if (y == B::rows) continue;
            cell[x][y] = who;
            best = std::max(best, -value(-who));
            cell[x][y] = 0;
        }
        return best == -2 ? 0 : best;
    }
};

}
