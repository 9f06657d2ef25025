#pragma once
#include <nacelle/math.h>
// Who is near whom: the K nearest of many, and grids of cells to look for them in.

namespace nacelle {

namespace detail {
struct Places;
}
// An agent's id, and the place in memory where it lay when bin() found it. It converts to the id; a look-up
// tries the place first, and goes by the id where the agent has moved since.
class Spot {
public:
    NACELLE_INLINE constexpr Spot() : Spot(-1) {}
    NACELLE_INLINE explicit constexpr Spot(int id) : both_(uint32_t(id)) {}
    NACELLE_INLINE constexpr operator int() const { return int16_t(both_ & 0xffffu); }

private:
    friend struct detail::Places;
    uint32_t both_;    // in one, so that a list of them takes no more registers than one of ids
};
namespace detail {
// Places differ between machines and between launches, so authors do not see them.
struct Places {
    static NACELLE_INLINE constexpr Spot spot(int id, int place) {
        Spot made;
        made.both_ = uint32_t(place) << 16 | (uint32_t(id) & 0xffffu);
        return made;
    }
    static NACELLE_INLINE constexpr int place(Spot spot) { return int(spot.both_ >> 16); }
};
}

// The K offered with the smallest keys, ascending, ties by the order of the offers. `Id` is an int or a Spot.
template <int K, class Id = int> struct Nearest {
    int count = 0;
    Id id[K];
    float key[K];

    Nearest() {
        NACELLE_UNROLL for (int i = 0; i < K; ++i) {
            id[i] = Id(-1);
            key[i] = 3.4e38f;
        }
    }
    NACELLE_INLINE void offer(Id candidate, float k) {
        if (!(k < key[K - 1])) return;
        // From the far end: each entry keeps its own, takes the new one, or takes its neighbour's.
        bool here = true;
        NACELLE_UNROLL for (int j = K - 1; j > 0; --j) {
            const bool before = k < key[j - 1];
            key[j] = before ? key[j - 1] : here ? k : key[j];
            id[j] = before ? id[j - 1] : here ? candidate : id[j];
            here = before;
        }
        key[0] = here ? k : key[0];
        id[0] = here ? candidate : id[0];
        count += count < K;
    }
    // fn(place, id) for every one that was found. The body is compiled once, and yet the list stays in
    // registers: an entry is picked by comparing, since an index would put the list in memory.
    template <class Fn> NACELLE_INLINE void each(Fn&& fn) const {
        NACELLE_ROLLED for (int i = 0; i < count; ++i) {
            Id who = id[0];
            NACELLE_UNROLL for (int j = 1; j < K; ++j) who = i == j ? id[j] : who;
            fn(i, who);
        }
    }
};

namespace detail {

template <class Fn>
concept TakesRun = requires(Fn& fn, int i) {
    fn(i, i);
};
template <class Fn> NACELLE_INLINE void visit_cells(Fn& fn, int first, int end) {
    if constexpr (TakesRun<Fn>) fn(first, end);
    else NACELLE_ROLLED for (int cell = first; cell < end; ++cell) fn(cell);
}

}

// The unit square cut into W by H cells; what leaves it on one side comes in on the other.
template <int W, int H> struct Torus {
    static_assert(W >= 3 && H >= 3,
                  "around() would visit a cell twice on a Torus with a side below 3");
    static constexpr int cells = W * H;

    // Of a point with x and y in [0, 1).
    static constexpr int cell(float x, float y) {
        return clamp(int(y * H), 0, H - 1) * W + clamp(int(x * W), 0, W - 1);
    }
    // fn(cell) for the cell and its eight neighbours, row by row, or fn(first, end) for as many of them
    // at once as have numbers without a gap: team.bin() takes both.
    template <class Fn> NACELLE_INLINE static void around(int cell, Fn&& fn) {
        const int x = cell % W, y = cell / W, left = wrap(x - 1, W), right = wrap(x + 1, W);
        const bool split = left > right;    // at the seam a row has two runs
        NACELLE_ROLLED for (int k = -1; k <= 1; ++k) {
            const int row = wrap(y + k, H) * W;
            NACELLE_ROLLED for (int part = 0; part <= int(split); ++part) detail::visit_cells(
                fn, row + (part == 0 ? left : 0), row + (split && part == 0 ? W : right + 1));
        }
    }
};

// The same with walls: cells at the rim have fewer neighbours.
template <int W, int H> struct Box {
    static constexpr int cells = W * H;

    static constexpr int cell(float x, float y) {
        return clamp(int(y * H), 0, H - 1) * W + clamp(int(x * W), 0, W - 1);
    }
    template <class Fn> NACELLE_INLINE static void around(int cell, Fn&& fn) {
        const int x = cell % W, y = cell / W, left = max(x - 1, 0), right = min(x + 1, W - 1);
        NACELLE_ROLLED for (int row = max(y - 1, 0); row <= min(y + 1, H - 1); ++row)
            detail::visit_cells(fn, row * W + left, row * W + right + 1);
    }
};

}
