#pragma once
#include "tests/connect_four/board.h"
#include "tests/support/random.h"

#include <algorithm>
#include <vector>

namespace nacelle::test::four {

// Plays by alpha-beta to a fixed depth: its own next stone is the first of `depth` that it looks at. A win sooner is
// better than one later, and where nobody wins within that all moves are equal. Of equally good moves it draws one, so
// that games differ, and that no weights of a guess decide how strong it is. With a depth of 0 it draws among all.
template <class B> class Opponent final {
public:
    explicit Opponent(int depth) : depth_(depth) {}

    int choose(const B& board, Dice& dice) const {
        const std::vector<int> best = best_moves(board);
        return best[dice.index(best.size())];
    }

    std::vector<int> best_moves(const B& board) const {
        std::vector<int> best;
        int most = -limit;
        for (const int column : B::by_middle()) {
            if (!board.open(column)) continue;
            // An equally good one has its exact value, too.
            const int value =
                depth_ == 0 ? 0
                            : -search(board.after_column(column), depth_ - 1, -limit, -(most - 1));
            if (value > most) best.clear();
            if (value >= most) best.push_back(column);
            most = std::max(most, value);
        }
        return best;
    }

    // A position that is lost with so many moves still looked at.
    static constexpr int limit = 100000, lost = -10000;

private:
    int search(const B& board, int depth, int alpha, int beta) const {
        if (board.lost()) return lost - depth;
        if (board.full() || depth == 0) return 0;
        int best = -limit;
        for (const int column : B::by_middle()) {
            if (!board.open(column)) continue;
            best = std::max(best, -search(board.after_column(column), depth - 1, -beta,
                                          -std::max(alpha, best)));
            if (best >= beta) break;
        }
        return best;
    }

    int depth_;
};

}
