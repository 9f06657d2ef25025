#pragma once
#include <nacelle/math.h>
// Who is near whom: the K nearest of many, and grids of cells to look for them in.

namespace nacelle {

// The K offered with the smallest keys, ascending, ties by the order of the offers.
template <int K> struct Nearest {
    int count = 0;
    int id[K];
    float key[K];

    Nearest() {
        NACELLE_UNROLL for (int i = 0; i < K; ++i) {
            id[i] = -1;
            key[i] = 3.4e38f;
        }
    }
    NACELLE_INLINE void offer(int candidate, float k) {
        if (!(k < key[K - 1])) return;
        // From the far end: each entry keeps its own, takes the new one, or takes its neighbour's.
        NACELLE_UNROLL for (int j = K - 1; j > 0; --j) {
            const bool before = k < key[j - 1], here = k < key[j];
            key[j] = before ? key[j - 1] : here ? k : key[j];
            id[j] = before ? id[j - 1] : here ? candidate : id[j];
        }
        if (k < key[0]) {
            key[0] = k;
            id[0] = candidate;
        }
        count += count < K;
    }
    // fn(place, id) for every one that was found. The body is compiled once, and yet the list stays in
    // registers: an entry is picked by comparing, since an index would put the list in memory.
    template <class Fn> NACELLE_INLINE void each(Fn&& fn) const {
        NACELLE_ROLLED for (int i = 0; i < count; ++i) {
            int who = id[0];
            NACELLE_UNROLL for (int j = 1; j < K; ++j) who = i == j ? id[j] : who;
            fn(i, who);
        }
    }
};

// The unit square cut into W by H cells; what leaves it on one side comes in on the other.
template <int W, int H> struct Torus {
    static_assert(W >= 3 && H >= 3, "around() would visit a cell twice on a Torus with a side below 3");
    static constexpr int cells = W * H;

    // Of a point with x and y in [0, 1).
    static constexpr int cell(float x, float y) {
        return clamp(int(y * H), 0, H - 1) * W + clamp(int(x * W), 0, W - 1);
    }
    // fn(cell) for the cell and its eight neighbours, row by row.
    template <class Fn> NACELLE_INLINE static void around(int cell, Fn&& fn) {
        const int x = cell % W, y = cell / W;
        NACELLE_ROLLED for (int k = 0; k < 9; ++k)
            fn(wrap(y + k / 3 - 1, H) * W + wrap(x + k % 3 - 1, W));
    }
};

// The same with walls: cells at the rim have fewer neighbours.
template <int W, int H> struct Box {
    static constexpr int cells = W * H;

    static constexpr int cell(float x, float y) {
        return clamp(int(y * H), 0, H - 1) * W + clamp(int(x * W), 0, W - 1);
    }
    template <class Fn> NACELLE_INLINE static void around(int cell, Fn&& fn) {
        const int x = cell % W, y = cell / W;
        NACELLE_ROLLED for (int k = 0; k < 9; ++k) {
            const int at_x = x + k % 3 - 1, at_y = y + k / 3 - 1;
            if (at_x >= 0 && at_x < W && at_y >= 0 && at_y < H) fn(at_y * W + at_x);
        }
    }
};

}
