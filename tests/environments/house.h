#pragma once
#include <cstddef>
#include <set>
#include <vector>

namespace nacelle::test {

// A house as rooms.cu builds it, which tables do not say: 64 x 64 bytes of thing + 16 * colour.
struct House {
    enum { wall, floor, door, locked, key, goal };
    static constexpr int side = 64;
    std::vector<int> cells;

    int thing(int at) const { return cells[at] & 15; }
    int colour(int at) const { return cells[at] >> 4 & 7; }
    static int room_of(int at) { return at / side / 16 * 4 + at % side / 16; }
    static bool on_wall_line(int c) { return c % 16 == 0 || c == side - 1; }
    int count(int what, int of = -1) const {
        int n = 0;
        for (int at = 0; at < side * side; ++at)
            n += thing(at) == what && (of < 0 || colour(at) == of);
        return n;
    }
    // The doors in the walls of a room, each of which is the west or north one of some room.
    int doors_of(int room) const {
        const int left = room % 4 * 16, top = room / 4 * 16;
        int n = 0;
        for (int at = 0; at < side * side; ++at) {
            const int x = at % side, y = at / side;
            const bool beside = x >= left && x <= left + 16 && y >= top && y <= top + 16;
            n += beside && (thing(at) == door || thing(at) == locked);
        }
        return n;
    }
    // Whether all but walls can be reached, with the keys found on the way.
    bool open_from(int start) const {
        std::vector<bool> reached(cells.size());
        std::vector<int> ahead{start}, shut;    // the latter: doors whose key was not found yet
        std::set<int> keys;
        int found = 0;
        while (!ahead.empty()) {
            const int at = ahead.back();
            ahead.pop_back();
            if (reached[std::size_t(at)]) continue;
            if (thing(at) == locked && !keys.contains(colour(at))) {
                shut.push_back(at);
                continue;
            }
            reached[std::size_t(at)] = true;
            ++found;
            if (thing(at) == key && keys.insert(colour(at)).second) {
                ahead.insert(ahead.end(), shut.begin(), shut.end());
                shut.clear();
            }
            for (const int next : {at - 1, at + 1, at - side, at + side})
                if (thing(next) != wall) ahead.push_back(next);
        }
        return found == side * side - count(wall);
    }
};

}
