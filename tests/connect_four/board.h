#pragma once
#include <array>
#include <bit>
#include <cstdint>

// Connect Four on a board of any size, written from its rules: stones fall, four in a row win. It shares no line with
// the environment.
namespace nacelle::test::four {

// Bits go up a column, then to the next one; a row above the board stays empty, so that no line runs from one column
// into the next.
template <int W, int H> struct Board {
    static constexpr int columns = W, rows = H, cells = W * H, step = H + 1;
    static_assert(W * step <= 64);

    uint64_t own = 0, taken = 0;    // the stones of who moves, and all of them

    static constexpr uint64_t bottom(int column) { return uint64_t(1) << column * step; }
    static constexpr uint64_t column_cells(int column) {
        return ((uint64_t(1) << H) - 1) << column * step;
    }
    static constexpr uint64_t floor() {
        uint64_t all = 0;
        for (int column = 0; column < W; ++column) all |= bottom(column);
        return all;
    }
    static constexpr uint64_t all_cells() { return floor() * ((uint64_t(1) << H) - 1); }

    int stones() const { return std::popcount(taken); }
    bool full() const { return stones() == cells; }
    uint64_t other() const { return own ^ taken; }
    // Where the next stone of each column that is not full comes to rest.
    uint64_t landings() const { return (taken + floor()) & all_cells(); }
    bool open(int column) const { return landings() & column_cells(column); }
    uint64_t landing(int column) const { return landings() & column_cells(column); }

    // Who moved waits now.
    Board after(uint64_t stone) const { return {.own = other(), .taken = taken | stone}; }
    Board after_column(int column) const { return after(landing(column)); }

    // Whether stones have four in a line: upright 1 apart, level a column, diagonal one more or less.
    static constexpr bool has_line(uint64_t stones) {
        for (const int apart : {1, step, step - 1, step + 1}) {
            const uint64_t pairs = stones & stones >> apart;
            if (pairs & pairs >> 2 * apart) return true;
        }
        return false;
    }
    // Whether who moved last has won.
    bool lost() const { return has_line(other()); }

    // The free cells, reachable yet or not, where a stone would complete four.
    static uint64_t completing(uint64_t stones, uint64_t taken) {
        uint64_t found = stones << 1 & stones << 2 & stones << 3;
        for (const int apart : {step, step - 1, step + 1}) {
            const uint64_t below = stones << apart & stones << 2 * apart,
                           above = stones >> apart & stones >> 2 * apart;
            found |= below & (stones << 3 * apart | stones >> apart);
            found |= above & (stones >> 3 * apart | stones << apart);
        }
        return found & all_cells() & ~taken;
    }
    uint64_t own_completing() const { return completing(own, taken); }
    uint64_t other_completing() const { return completing(other(), taken); }

    // Different for each position.
    uint64_t key() const { return own + taken + floor(); }
    // The same position seen in a mirror.
    Board mirrored() const {
        Board m;
        for (int column = 0; column < W; ++column) {
            const int from = (W - 1 - column) * step, to = column * step;
            m.own |= (own >> from & column_cells(0)) << to;
            m.taken |= (taken >> from & column_cells(0)) << to;
        }
        return m;
    }
    // Columns from the middle outwards: lines go through the middle most.
    static constexpr std::array<int, W> by_middle() {
        std::array<int, W> order{};
        for (int i = 0; i < W; ++i) order[i] = W / 2 + (i % 2 ? -(i + 1) / 2 : i / 2);
        return order;
    }
};

using StandardBoard = Board<7, 6>;

}
