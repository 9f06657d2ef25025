#pragma once
#include <learn/layout/network.h>
#include <learn/sums/shards.h>
// A CPU's sums of a minibatch: each slot has sums of its own, of every so many groups of samples, so that bits do not depend
// on which threads there are.

namespace learn {

// fn(slot) for each of a thread's blocks. A small minibatch fills the first slots of a shard alone, so neighbours are for
// threads far apart: bits of the number in turned order, of as many slots as a power of two.
template <class Fn> void each_slot(const PolicyState& state, Items items, Fn&& fn) {
    const uint32_t slots = state.parts / shards;
    for (uint64_t block = items.begin / block_threads; block < items.end / block_threads; ++block) {
        const uint64_t own = block % slots;
        uint64_t turned = 0;
        for (uint32_t bit = 1; bit < slots; bit *= 2) turned = 2 * turned + (own & bit ? 1 : 0);
        fn(block - own + turned);
    }
}
// fn(first, how many) for the slot's groups of so many of `all` items.
template <class Fn>
void each_group(const PolicyState& state, uint32_t all, uint32_t together, uint64_t slot, Fn&& fn) {
    const ShardBlocks cut(all, state.parts / shards);
    const uint64_t begin = cut.shard_of(uint32_t(slot)) * uint64_t(cut.items),
                   end = begin + cut.items;
    for (uint64_t first = begin + cut.own(uint32_t(slot)) * uint64_t(together); first < end;
         first += cut.blocks * uint64_t(together))
        fn(uint32_t(first), uint32_t(min(end - first, uint64_t(together))));
}
// The same of a gradient: add(slot, first, how many, gradient, tally) adds to the slot's sums. Where it has no group, its tally is
// zero, and nobody reads the gradient.
template <class E, int policy, class Add>
void sum_groups(const PolicyState& state, uint32_t all, uint32_t together, Items items, Add&& add) {
    constexpr uint64_t size = uint64_t(Place<E, policy>::size);
    each_slot(state, items, [&](uint64_t slot) {
        float* const gradient = state.gradient + slot * size;
        double* const tally = state.tallies + slot * tally_count;
        for (int i = 0; i < tally_count; ++i) tally[i] = 0;
        bool cleared = false;
        each_group(state, all, together, slot, [&](uint32_t first, uint32_t n) {
            if (!cleared) __builtin_memset(gradient, 0, size * sizeof(float));
            cleared = true;
            add(slot, first, n, gradient, tally);
        });
    });
}

}
