#pragma once
#include <learn/layout/arguments.h>
// The environments of a run lie in shards, of which each rank has some. All that is added up over them is added up for each
// shard apart, in an order that does not know of the others, and then over shards by one tree: neighbours first, then
// neighbours of those. Two, four or eight shards that lie on one rank are a branch of it, so that sums have the same bits
// on one rank with all of them and on several with some each.

namespace learn {

#if defined(LEARN_SHARDS)
inline constexpr uint32_t shards = LEARN_SHARDS;    // of this rank
#else
inline constexpr uint32_t shards = 1;
#endif
#if defined(LEARN_RANKS)
inline constexpr int rank_count = LEARN_RANKS;
#else
inline constexpr int rank_count = 1;
#endif
inline constexpr bool among_ranks = rank_count > 1;

// The sum over a tree of up to `most` terms, which come one after the other. A level keeps the sum of as many terms as are
// a power of two until its neighbour is there, like the bits of their count.
template <class T, uint32_t most> class TreeSum {
public:
    NACELLE_INLINE void add(T term) {
        bool carries = true;
        NACELLE_UNROLL for (int l = 0; l < levels; ++l) {
            if (!carries) continue;
            if (count_ >> l & 1) term = at_[l] + term;
            else {
                at_[l] = term;
                carries = false;
            }
        }
        ++count_;
    }
    NACELLE_INLINE T sum() const {
        T sum{};
        bool any = false;
        NACELLE_UNROLL for (int l = 0; l < levels; ++l) {
            if (!(count_ >> l & 1)) continue;
            sum = any ? at_[l] + sum : at_[l];
            any = true;
        }
        return sum;
    }

private:
    static constexpr int levels = [] {
        int bits = 0;
        while (most >> bits) ++bits;
        return bits;
    }();
    T at_[levels];
    uint32_t count_ = 0;
};

// The sum over this rank's shards of what fn(shard) gives.
template <class Fn> NACELLE_INLINE auto over_shards(Fn&& fn) {
    if constexpr (shards == 1) return fn(0u);
    else {
        TreeSum<decltype(fn(0u)), shards> tree;
        NACELLE_ROLLED for (uint32_t shard = 0; shard < shards; ++shard) tree.add(fn(shard));
        return tree.sum();
    }
}

// Items of which each shard has as many, cut into blocks of each shard's own.
struct ShardBlocks {
    uint32_t items, blocks;    // of a shard

    NACELLE_INLINE ShardBlocks(uint32_t all, uint32_t its_blocks)
        : items(all / shards), blocks(its_blocks) {}
    NACELLE_INLINE uint32_t shard_of(uint32_t block) const {
        return shards == 1 ? 0 : block / blocks;
    }
    // Number `block` among those of its shard.
    NACELLE_INLINE uint32_t own(uint32_t block) const {
        return shards == 1 ? block : block % blocks;
    }
};

}
