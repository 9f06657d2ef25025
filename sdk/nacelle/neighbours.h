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

// fn(i, key(i)) for every i from `first` to `end`. The keys of four are under way at once.
template <class Key, class Fn> NACELLE_INLINE void each_key(int first, int end, Key& key, Fn&& fn) {
    constexpr int together = 4;
    int i = first;
    NACELLE_ROLLED for (; i + together <= end; i += together) {
        decltype(key(i)) four[together];
        NACELLE_UNROLL for (int j = 0; j < together; ++j) four[j] = key(i + j);
        NACELLE_UNROLL for (int j = 0; j < together; ++j) fn(i + j, four[j]);
    }
    NACELLE_ROLLED for (; i < end; ++i) fn(i, key(i));
}
NACELLE_INLINE int lowest_bit(uint32_t word) {
#ifdef __CUDA_ARCH__
    return __ffs(int(word)) - 1;
#else
    return __builtin_ctz(word);
#endif
}

// The K nearest of `count` by key(i), ties by i; a negative key leaves one out. Each is offered as it comes.
template <int K, int count, class Key> NACELLE_INLINE Nearest<K> nearest_by_offers(Key&& key) {
    Nearest<K> near;
    each_key(0, count, key, [&](int i, float its) NACELLE_INLINE_LAMBDA {
        if (its >= 0) near.offer(i, its);
    });
    return near;
}
// The same where threads of a warp have a list each: one of them takes nearly every offer, and all wait for it. So a
// first pass finds a bound for the keys of the K nearest, which is the K-th smallest of the least keys of some groups; a
// second one notes who is within it, little more than K; and only those are offered, by all threads at once.
template <int K, int count, class Key> NACELLE_INLINE Nearest<K> nearest_by_bound(Key&& key) {
    constexpr int group = 4 * max(1, count / (12 * K)), words = 4, span = 32 * words;
    constexpr float nothing = 3.4e38f;    // as in an empty list
    // Keys as numbers that are in the same order; what is negative or no number lies behind all others.
    const auto bits_of = [&](int i) NACELLE_INLINE_LAMBDA {
        return __builtin_bit_cast(uint32_t, key(i) + 0.0f);    // -0 becomes 0
    };
    uint32_t least[K];
    NACELLE_UNROLL for (int i = 0; i < K; ++i) least[i] = __builtin_bit_cast(uint32_t, nothing);
    NACELLE_ROLLED for (int first = 0; first < count; first += group) {
        uint32_t its = least[K - 1];
        each_key(first, min(first + group, count), bits_of,
                 [&](int, uint32_t bits) NACELLE_INLINE_LAMBDA { its = min(its, bits); });
        if (its == least[K - 1]) continue;
        NACELLE_UNROLL for (int j = K - 1; j > 0; --j) least[j] =
            max(least[j - 1], min(least[j], its));
        least[0] = min(least[0], its);
    }
    const uint32_t bound = least[K - 1];

    Nearest<K> near;
    NACELLE_ROLLED for (int begin = 0; begin < count; begin += span) {
        uint32_t within[words];
        NACELLE_UNROLL for (int w = 0; w < words; ++w) within[w] = 0;
        NACELLE_ROLLED for (int w = 0; w < words; ++w) {
            const int first = begin + 32 * w;
            uint32_t word = 0;
            each_key(first, min(first + 32, count), bits_of,
                     [&](int i, uint32_t bits)
                         NACELLE_INLINE_LAMBDA { word |= uint32_t(bits <= bound) << (i - first); });
            // Moved along rather than put at a place: an index would put the words in memory.
            NACELLE_UNROLL for (int v = 0; v + 1 < words; ++v) within[v] = within[v + 1];
            within[words - 1] = word;
        }
        while (true) {
            uint32_t word = 0;
            int from = 0;
            NACELLE_UNROLL for (int w = words - 1; w >= 0; --w) {
                from = within[w] ? w : from;
                word = within[w] ? within[w] : word;
            }
            if (word == 0) break;
            NACELLE_UNROLL for (int w = 0; w < words; ++w) within[w] =
                w == from ? word & (word - 1) : within[w];
            const int i = begin + 32 * from + lowest_bit(word);
            const float k = key(i);
            if (k >= 0) near.offer(i, k);
        }
    }
    return near;
}
// Whether what a bound saves is more than the keys that it asks for again.
template <int K, int count> inline constexpr bool bound_pays = K >= 4 && count >= 8 * K;

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
