#pragma once
#include <off_policy/matrix.h>
// Rows as networks see them, where environments stand and of a minibatch, and what is known of their spread.

namespace off_policy {

// An item is a number of a row.
template <class E>
NACELLE_INLINE void observe_rows(const View<E>&, const Arguments& a, Items items) {
    const uint32_t width = a.replay.ring.width;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(a.replay.ring.rows) * width); ++i)
        put(a.standing, size_t(i / width), uint32_t(i % width),
            normal(a, a.replay.standing[i], uint32_t(i % width)));
}
// Outputs of the network that chooses. An item is a row.
template <class E>
NACELLE_INLINE void copy_outputs(const View<E>&, const Arguments& a, Items items) {
    if (learn::by_peers && a.steps_on && items.begin == 0)
        learn::Exchange::next_turn(*a.peers, learn::observations_of);
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(a.replay.ring.rows)); ++i) {
        const uint32_t shown = a.outputs - a.duelling;
        float mean = 0;
        for (uint32_t k = 0; a.duelling && k < shown; ++k)
            mean += number(a.choices, i, k) / float(shown);
        const float common = a.duelling ? number(a.choices, i, shown) - mean : 0.0f;
        for (uint32_t k = 0; k < shown; ++k)
            a.replay.outputs[i * shown + k] = number(a.choices, i, k) + common;
    }
}
// Where rows stand in one column: their mean, and the squares about it.
struct Column {
    double count, mean, squares;
};
// Of this process, which is alone. On a GPU a block comes along.
NACELLE_INLINE Column column_of_rows(const Arguments& a, uint64_t k) {
    const uint64_t width = a.replay.ring.width, rows = a.replay.ring.rows;
    const float* const from = a.replay.standing + k;
    const double count = double(rows),
                 mean = learn::sum_by<1>(uint32_t(rows),
                                         [&](uint32_t i, int) { return double(from[i * width]); })
                            .at[0] /
                        count;
    const double squares = learn::sum_by<1>(uint32_t(rows), [&](uint32_t i, int) {
                               const double off = double(from[i * width]) - mean;
                               return off * off;
                           }).at[0];
    return {count, mean, squares};
}
// This rank's sums over rows, and over their squares, about the mean until now, which all ranks have.
NACELLE_INLINE learn::Sums<2> rows_about_mean(const Arguments& a, uint64_t k) {
    const uint64_t width = a.replay.ring.width;
    const float* const from = a.replay.standing + k;
    const double mean = double(a.mean[k]);
    return learn::sum_by<2>(a.replay.ring.rows, [&](uint32_t i, int which) {
        const double off = double(from[i * width]) - mean;
        return which ? off * off : off;
    });
}
// Of all ranks, which add up in one another's memory, or have added up what measure_rows() left.
NACELLE_INLINE Column column_of_ranks(const Arguments& a, uint64_t k) {
    learn::Sums<2> sums;
#if NACELLE_GPU
    if constexpr (learn::by_peers) {
        const learn::Exchange exchange(*a.peers, learn::observations_of);
        sums = rows_about_mean(a, k);
        learn::send_sums(exchange, 4 * k, sums);
        sums = learn::sums_of_all(exchange, 4 * k, sums);
    } else
#endif
    {
        sums.at[0] = a.seen_by_ranks[2 * k];
        sums.at[1] = a.seen_by_ranks[2 * k + 1];
    }
    const double count = double(rows_of_all(a.replay)), off = sums.at[0] / count;
    return {count, double(a.mean[k]) + off, max(sums.at[1] - sums.at[0] * off, 0.0)};
}
// What a rank hands over. A block has a column.
template <class E>
NACELLE_INLINE void measure_rows(const View<E>&, const Arguments& a, Items items) {
    const uint64_t width = a.replay.ring.width;
    for (uint64_t k = items.begin / learn::block_threads;
         k < min((items.end + learn::block_threads - 1) / learn::block_threads, width); ++k) {
        const learn::Sums<2> sums = rows_about_mean(a, k);
        if (items.begin % learn::block_threads != 0) continue;
        a.seen_by_ranks[2 * k] = sums.at[0];
        a.seen_by_ranks[2 * k + 1] = sums.at[1];
    }
}
// Means and scales, by sums over batches (Chan and others, 1979). On a GPU a block has a column.
template <class E>
NACELLE_INLINE void update_normaliser(const View<E>&, const Arguments& a, Items items) {
    const uint64_t width = a.replay.ring.width;
    for (uint64_t k = items.begin / learn::block_threads;
         k < min((items.end + learn::block_threads - 1) / learn::block_threads, width); ++k) {
        const Column column = a.replay.ranks > 1 ? column_of_ranks(a, k) : column_of_rows(a, k);
        if (items.begin % learn::block_threads != 0) continue;
        const auto [count, mean, squares] = column;
        double *const means = a.carried, *const all = means + width, *const counts = all + width;
        const double before = counts[k], whole = before + count, off = mean - means[k];
        all[k] += squares + off * off * (before * count / whole);
        means[k] += off * (count / whole);
        counts[k] = whole;
        a.mean[k] = float(means[k]);
        a.scale[k] = float(1.0 / learn::root(all[k] / whole + 1e-8));
    }
}
// What the samples of a minibatch saw, did, and saw next. An item is a number of a sample.
template <class E> NACELLE_INLINE void gather(const View<E>&, const Arguments& a, Items items) {
    const replay::Batch& batch = a.replay.batch;
    const uint32_t width = a.replay.ring.width, parts = a.replay.ring.parts, across = width + parts;
    const bool acts = a.method != replay::Method::dqn;
    for (uint64_t item = items.begin; item < min(items.end, uint64_t(batch.size) * across);
         ++item) {
        const size_t i = size_t(item / across);
        const uint32_t k = uint32_t(item % across);
        if (k >= width) {
            if (acts) put(a.taken, i, k, batch.action[i * parts + k - width]);
            continue;
        }
        const float next = normal(a, batch.next_obs[i * width + k], k),
                    now = normal(a, batch.obs[i * width + k], k);
        put(a.then, i, k, next);
        put(a.now, i, k, now);
        if (!acts) continue;
        put(a.then_valued, i, k, next);
        put(a.taken, i, k, now);
        put(a.proposed, i, k, now);
    }
}

}
