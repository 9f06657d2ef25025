#pragma once
#include <replay/batch.h>
// Priorities, and sums of them in which a number is found by its share. Each sum is made anew from its 32 numbers, in their
// order, so that it depends on nothing but them.

namespace replay {

// The step that has all of its n steps behind it now becomes one that may be drawn; what the newest overwrote is none. An
// item is a row.
template <class E> NACELLE_INLINE void admit(const View<E>&, const Arguments& a, Items items) {
    const Ring& ring = a.ring;
    const uint64_t newest = ring.steps[0] - 1;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(ring.rows)); ++i) {
        a.tree.leaf[slot_of_step(ring, newest) * ring.rows + i] = 0;
        if (newest + 1 >= a.n_step)
            a.tree.leaf[slot_of_step(ring, newest + 1 - a.n_step) * ring.rows + i] = a.tree.most[0];
    }
}
// What a minibatch's samples are told to be. They lie in their order, so that of equal ones the last one says it.
template <class E> NACELLE_INLINE void revise(const View<E>&, const Arguments& a, Items items) {
    const Batch& batch = a.batch;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(batch.size)); ++i)
        if (i + 1 == batch.size || batch.place[i] != batch.place[i + 1])
            a.tree.leaf[batch.place[i]] = batch.priority[i];
}
// Sum number `at` of a level, from 1 on.
NACELLE_INLINE void add_up(const Tree& tree, uint32_t level, uint64_t at) {
    const uint64_t first = at * branches, end = min(first + branches, tree.count[level - 1]);
    double sum = 0;
    for (uint64_t i = first; i < end; ++i)
        sum += level > 1 ? tree.sum[level - 2][i] : double(tree.leaf[i]);
    tree.sum[level - 1][at] = sum;
}
// The sums of level a.level above what was changed: above a minibatch's samples, or above the rows of the two steps that
// admit() changed.
template <class E> NACELLE_INLINE void follow(const View<E>&, const Arguments& a, Items items) {
    uint64_t span = 1;    // leaves of a sum
    for (uint32_t l = 0; l < a.level; ++l) span *= branches;
    if (a.from_batch) {
        const int64_t* const place = a.batch.place;
        for (uint64_t i = items.begin; i < min(items.end, uint64_t(a.batch.size)); ++i) {
            const uint64_t at = uint64_t(place[i]) / span;
            if (i == 0 || uint64_t(place[i - 1]) / span != at) add_up(a.tree, a.level, at);
        }
        return;
    }
    const Ring& ring = a.ring;
    const uint64_t newest = ring.steps[0] - 1, each = ring.rows / span + 2,
                   first = slot_of_step(ring, newest) * ring.rows, end = first + ring.rows;
    for (uint64_t i = items.begin; i < min(items.end, 2 * each); ++i) {
        if (i < each) {
            const uint64_t at = first / span + i;
            if (at * span < end) add_up(a.tree, a.level, at);
            continue;
        }
        if (a.n_step == 1 || newest + 1 < a.n_step) continue;
        const uint64_t before = slot_of_step(ring, newest + 1 - a.n_step) * ring.rows,
                       at = before / span + (i - each);
        const bool same = at >= first / span && at * span < end;    // as above
        if (at * span < before + ring.rows && !same) add_up(a.tree, a.level, at);
    }
}
// All sums, where a checkpoint has brought other leaves than those that they are of; one block.
template <class E> NACELLE_INLINE void add_up_all(const View<E>&, const Arguments& a, Items) {
    const Tree& tree = a.tree;
    if (tree.summed[0] == a.ring.steps[0]) return;
    for (uint32_t level = 1; level <= tree.levels; ++level) {
#if NACELLE_GPU
        for (uint64_t at = threadIdx.x; at < tree.count[level];
             at += uint32_t(learn::block_threads))
            add_up(tree, level, at);
        __syncthreads();
#else
        for (uint64_t at = 0; at < tree.count[level]; ++at) add_up(tree, level, at);
#endif
    }
#if NACELLE_GPU
    if (threadIdx.x != 0) return;
#endif
    tree.summed[0] = a.ring.steps[0];
}

}
