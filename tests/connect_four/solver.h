#pragma once
#include "tests/connect_four/board.h"

#include <algorithm>
#include <vector>

namespace nacelle::test::four {

// The exact value of positions for who moves: 1 won, 0 drawn, -1 lost. A search with a null window, by alpha-beta, a
// table of what is known, and forced moves.
template <class B> class Solver final {
public:
    explicit Solver(int table_bits = 21)
        : table_(size_t(1) << table_bits), shift_(64 - table_bits) {}

    int value(const B& board) {
        if (board.lost()) return -1;
        if (board.full()) return 0;
        if (board.own_completing() & board.landings()) return 1;
        return reaches(board, 1) ? 1 : reaches(board, 0) ? 0 : -1;
    }
    // The value of a move for who makes it.
    int value_of_move(const B& board, int column) { return -value(board.after_column(column)); }

private:
    // What is known of a position's value: that it is at least or at most this.
    struct Known {
        uint64_t key = 0;
        int8_t least = -1, most = 1;
    };

    Known& known(uint64_t key) { return table_[key * 0x9e3779b97f4a7c15ull >> shift_]; }

    // Where who moves may put a stone without losing by the other's next one; who moves cannot win at once.
    static uint64_t safe_moves(const B& board) {
        uint64_t moves = board.landings();
        const uint64_t threats = board.other_completing();
        if (const uint64_t forced = moves & threats) {
            if (forced & (forced - 1)) return 0;
            moves = forced;
        }
        return moves & ~(threats >> 1);    // not below a cell where the other wins
    }

    // Whether the value is at least `bound`, 1 or 0. Nobody has won, and who moves cannot at once.
    bool reaches(const B& board, int bound) {
        const uint64_t moves = safe_moves(board);
        if (moves == 0) return board.full() && bound <= 0;
        // Two free cells, and no line by the next stone: the other's last one cannot win either, or it was no safe move.
        if (board.stones() >= B::cells - 2) return bound <= 0;
        {
            const Known& its = known(board.key());
            if (its.key == board.key()) {
                if (its.least >= bound) return true;
                if (its.most < bound) return false;
            }
        }
        bool found = false;
        std::array<uint64_t, B::columns> ordered;
        const int count = order(board, moves, ordered);
        for (int i = 0; i < count && !found; ++i)
            // The other reaches at least 1 - bound, or who moves reaches the bound.
            found = !reaches(board.after(ordered[size_t(i)]), 1 - bound);
        Known& its = known(board.key());
        if (its.key != board.key()) its = {.key = board.key()};
        if (found) its.least = std::max(its.least, int8_t(bound));
        else its.most = std::min(its.most, int8_t(bound - 1));
        return found;
    }

    // First what makes most threats, of equals what is nearest to the middle.
    static int order(const B& board, uint64_t moves, std::array<uint64_t, B::columns>& ordered) {
        std::array<int, B::columns> threats;
        int count = 0;
        for (const int column : B::by_middle()) {
            const uint64_t stone = moves & B::column_cells(column);
            if (!stone) continue;
            const int its = std::popcount(B::completing(board.own | stone, board.taken | stone));
            int at = count++;
            for (; at > 0 && threats[size_t(at - 1)] < its; --at) {
                threats[size_t(at)] = threats[size_t(at - 1)];
                ordered[size_t(at)] = ordered[size_t(at - 1)];
            }
            threats[size_t(at)] = its;
            ordered[size_t(at)] = stone;
        }
        return count;
    }

    std::vector<Known> table_;
    int shift_;
};

}
