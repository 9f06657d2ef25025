#pragma once
#include <replay/rows.h>
// Minibatches out of the ring: which steps, and what they led to.

namespace replay {

// Steps that have all of their n steps behind them, the oldest first.
struct Window {
    uint64_t first, count;
    NACELLE_INLINE explicit Window(const Arguments& a) {
        const uint64_t steps = a.ring.steps[0], ahead = a.n_step - 1;
        first = steps > a.ring.slots ? steps - a.ring.slots : 0;
        count = steps > first + ahead ? steps - first - ahead : 0;
    }
};

// Which leaf the sum of those before it passes this number in, and its own priority.
NACELLE_INLINE uint64_t found_in(const Tree& tree, double target, float& priority) {
    uint64_t at = 0;
    for (uint32_t level = tree.levels; level-- > 0;) {
        const uint64_t first = at * branches, end = min(first + branches, tree.count[level]);
        at = first;
        uint64_t last = first;    // of those that are above zero, if rounding passes them all
        bool found = false;
        for (uint64_t i = first; i < end; ++i) {
            const double own = level ? tree.sum[level - 1][i] : double(tree.leaf[i]);
            if (found || own <= 0) continue;
            last = i;
            found = target < own;
            if (!found) target -= own;
        }
        at = last;
    }
    priority = tree.leaf[at];
    return at;
}

// An item is a sample.
template <class E>
NACELLE_INLINE void sample(const View<E>& view, const Arguments& a, Items items) {
    const Ring& ring = a.ring;
    const Batch& batch = a.batch;
    const Window window(a);
    const uint64_t all = max(window.count * ring.rows, uint64_t(1));
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(batch.size)); ++i) {
        Rng rng(view.head.seed, Domain::permutation, view.head.clock->tick,
                a.rank * batch.size + uint32_t(i), a.update);
        size_t place;
        if (a.tree.leaf) {
            const double whole = a.tree.sum[a.tree.levels - 1][0],
                         share = (double(i) + double(rng.uniform())) / double(batch.size);
            float priority;
            place = size_t(found_in(a.tree, share * whole, priority));
            const double chance = double(priority) / max(whole, 1e-30) * double(all);
            batch.weight[i] = pow(float(max(chance, 1e-12)), -a.dials[correction]);
        } else {
            const uint64_t high = rng.bits(), low = rng.bits(), bits = high << 32 | low,
                           number = bits % all;
            place = slot_of_step(ring, window.first + number / ring.rows) * ring.rows +
                    size_t(number % ring.rows);
        }
        float reward = 0, discount = 1;
        size_t last = place, slot = place / ring.rows, row = place % ring.rows;
        for (uint32_t k = 0; k < a.n_step; ++k) {
            last = slot * ring.rows + row;
            reward += discount * ring.reward[last];
            discount *= a.dials[gamma];
            const uint8_t flag = ring.flag[last];
            if (flag & learn::terminated) discount = 0;
            if (flag & (learn::terminated | learn::truncated)) break;
            slot = slot + 1 == ring.slots ? 0 : slot + 1;
        }
        batch.place[i] = int64_t(place);
        batch.last[i] = int64_t(last);
        batch.reward[i] = reward;
        batch.discount[i] = discount;
    }
}
// An item is a number of a sample: as many as the widest of its rows.
template <class E> NACELLE_INLINE void fetch(const View<E>&, const Arguments& a, Items items) {
    const Ring& ring = a.ring;
    const Batch& batch = a.batch;
    const uint64_t across = max(ring.width, max(ring.parts, ring.choices));
    for (uint64_t item = items.begin; item < min(items.end, batch.size * across); ++item) {
        const uint64_t i = item / across, k = item % across;
        const size_t from = size_t(batch.place[i]), to = size_t(batch.last[i]);
        if (k < ring.width) {
            batch.obs[i * ring.width + k] = ring.obs[from * ring.width + k];
            batch.next_obs[i * ring.width + k] = ring.next_obs[to * ring.width + k];
        }
        if (k < ring.parts) batch.action[i * ring.parts + k] = ring.action[from * ring.parts + k];
        if (ring.mask && k < ring.choices) {
            batch.mask[i * ring.choices + k] = ring.mask[from * ring.choices + k];
            batch.next_mask[i * ring.choices + k] = ring.next_mask[to * ring.choices + k];
        }
    }
}
// Standard normal numbers for the update, by their places in that of all ranks.
template <class E>
NACELLE_INLINE void draw_noise(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t half = a.batch.noise_size / 2;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(a.batch.noise_size)); ++i) {
        const uint64_t place = (i / half * a.ranks + a.rank) * half + i % half;
        Rng rng(view.head.seed, Domain::permutation, view.head.clock->tick, uint32_t(place),
                32768 + a.update);
        a.batch.noise[i] = rng.normal();
    }
}

}
