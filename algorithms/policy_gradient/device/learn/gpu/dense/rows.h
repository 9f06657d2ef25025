#pragma once
#include <learn/formulas/shuffle.h>
#include <learn/gpu/rollout/choices.h>
#include <learn/gpu/tile/arguments.h>
// What goes into the first layer of a network whose layers go through memory. Some neighbouring lanes have a row, or
// several, and each of them pieces of it, so that rows are read and written as wholes. A launch takes the stream's rows,
// from its first one on; rows behind the last one, to a whole block, are zero.

namespace learn {

inline constexpr uint32_t piece_numbers = numbers_of_piece(keeps_pairs);

// A piece of each of some observations, from number `first` on, as the networks see them; zeros where there is none.
template <int policy, int rows, class Row>
NACELLE_INLINE void put_piece(const TiledMatrix& to, uint32_t row, uint32_t first,
                              const Row (&obs)[rows], uint32_t width, const Memory& memory) {
    constexpr int planes = Spec<policy>::planes;
    if constexpr (in_pairs<Row>) {
        FourWords words[rows];
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) words[r] =
            bool(obs[r]) && first < width ? obs[r].four(int(first / 2), memory) : FourWords{};
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) *
            reinterpret_cast<FourWords*>(
                to.at + place_in_tiles(row + uint32_t(r), first, to.across)) = words[r];
    } else {
        NACELLE_UNROLL for (uint32_t low = first; low < first + piece_numbers; low += 2) {
            float two[rows][2];
            NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
                NACELLE_UNROLL for (uint32_t i = 0; i < 2; ++i) {
                    const uint32_t at = low + i;
                    two[r][i] = bool(obs[r]) && at < width
                                    ? coded_of<policy>(obs[r], int(at), memory.mean, memory.scale)
                                    : 0;
                }
            }
            NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
                const auto both = planes_of<planes>(two[r][0], two[r][1]);
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
                    reinterpret_cast<uint32_t*>(to.at + size_t(p) * to.plane +
                                                place_in_tiles(row + uint32_t(r), low, to.across)) =
                    both.at[p];
            }
        }
    }
}
// This lane's share of a row: fn(the first number of a piece).
template <int width, class Fn> NACELLE_INLINE void each_own_piece(Items items, Fn&& fn) {
    constexpr uint32_t lanes = gather_lanes(width, keeps_pairs);
    NACELLE_ROLLED for (uint32_t first = piece_numbers * uint32_t(items.begin % lanes);
                        first < numbers_put(width, keeps_pairs); first += piece_numbers * lanes)
        fn(first);
}
// from(row of the stream) says where the row's observation lies, or null. Lanes take so many rows; before each piece of
// these, told(its first number) is called.
template <class E, int policy, int rows = 1, class From, class Told>
NACELLE_INLINE void gather(const StreamArguments& a, Items items, From&& from, Told&& told) {
    constexpr int width = width_of<E, policy>;
    const Stream& stream = a.stream;
    const uint32_t row = uint32_t(items.begin / gather_lanes(width, keeps_pairs)) * uint32_t(rows);
    if (row >= whole_blocks(stream.rows)) return;
    using Row = decltype(from(row));
    Row obs[rows];
    NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
        const uint32_t its = row + uint32_t(r);
        obs[r] = its < stream.rows ? from(stream.first + its) : Row{};
    }
    each_own_piece<width>(items, [&](uint32_t first) {
        told(first);
        put_piece<policy>(stream.seen, row, first, obs, uint32_t(width),
                          a.all.memory[Spec<policy>::group]);
    });
}
template <class E, int policy, int rows = 1, class From>
NACELLE_INLINE void gather(const StreamArguments& a, Items items, From&& from) {
    gather<E, policy, rows>(a, items, from, [](uint32_t) {});
}
// A piece of rows, or of those of them that are there, to where these are kept. Its numbers are on their way together: a read
// behind a condition would be waited for alone.
template <int width, int rows>
NACELLE_INLINE void keep_piece(const Memory& memory, const size_t (&at)[rows],
                               const float* const (&from)[rows], uint32_t first, bool final) {
    if (first >= chunks_along(width) * chunk_numbers) return;
    const auto its = [&](int r) { return from[r] ? from[r] : memory.mean; };
    const auto place = [&](int r) { return at[r] * size_t(kept_parts<width>); };
    if constexpr (keeps_pairs) {
        FourWords words[rows];
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) words[r] =
            kept_four<width>(its(r), int(first / 2), memory);
        uint32_t* const to = (final ? memory.final_pairs : memory.pairs) + first / 2;
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
            if (from[r]) *reinterpret_cast<FourWords*>(to + place(r)) = words[r];
        }
    } else {
        float number[rows][2];
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
            NACELLE_UNROLL for (uint32_t i = 0; i < 2; ++i) number[r][i] =
                its(r)[min(first + i, uint32_t(width) - 1)];
        }
        float* const to = (final ? memory.final_obs : memory.obs) + first;
        NACELLE_UNROLL for (int r = 0; r < rows; ++r) {
            if (from[r] && first < uint32_t(width)) to[place(r)] = number[r][0];
            if (from[r] && first + 1 < uint32_t(width)) to[place(r) + 1] = number[r][1];
        }
    }
}

template <int width>
NACELLE_INLINE void keep_own_pieces(const Memory& memory, size_t at, bool final, const float* row,
                                    Items items) {
    each_own_piece<width>(
        items, [&](uint32_t first) { keep_piece<width, 1>(memory, {at}, {row}, first, final); });
}

// Where a policy's agents stand. In a rollout it is kept, for step a.step, and so is where an episode was cut short in
// the step before.
template <class E, int policy, bool keeps>
NACELLE_INLINE void gather_standing(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    constexpr int width = width_of<E, policy>;
    const Memory& memory = a.all.memory[C::group];
    const size_t rows = group_rows<E, policy>(view), step = a.all.step;
    constexpr int together = keeps ? int(gather_rows(width, keeps_pairs)) : 1;
    // What a team sees is kept by its step, but for what it sees last.
    const bool keeps_here = keeps && (C::keeps_obs || step == a.all.steps);
    size_t at[together] = {};
    const float* kept[together] = {};
    int next = 0;
    gather<E, policy, together>(
        a, items,
        [&](uint32_t agent) {
            const size_t row = C::row_of(a.all, agent);
            if constexpr (keeps) {
                at[next] = step * rows + row;
                kept[next++] = C::obs_of(view, a.all, row);
                if (step > 0 && Spec<policy>::kind == Kind::trained)
                    if (const float* const cut = C::cut_at(view, a.all, uint32_t(step) - 1, row))
                        keep_own_pieces<width>(memory, (step - 1) * rows + row, true, cut, items);
                return C::standing(view, a.all, row);
            } else return C::obs_of(view, a.all, row);
        },
        [&](uint32_t first) {
            if (keeps_here) keep_piece<width>(memory, at, kept, first, false);
        });
}
template <class E, int policy>
NACELLE_INLINE void gather_now(const View<E>& view, const StreamArguments& a, Items items) {
    gather_standing<E, policy, false>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void gather_step(const View<E>& view, const StreamArguments& a, Items items) {
    gather_standing<E, policy, true>(view, a, items);
}

// Whether a row of a minibatch is a sample, and where that lies.
template <int policy> NACELLE_INLINE bool has_sample(const Stream& stream, uint32_t row) {
    if constexpr (has_memory<policy>)
        return row < stream.rows && row % stream.across < stream.count;
    else return row < stream.rows;
}
template <class E, int policy>
NACELLE_INLINE size_t place_of_row(const View<E>& view, const StreamArguments& a,
                                   const Minibatch<E, policy>& batch, uint32_t row) {
    if constexpr (has_memory<policy>)
        return place_of<E, policy>(
            view, a.all,
            batch.sample(a.all, a.stream.first + row % a.stream.across, row / a.stream.across));
    else return batch.place(view, a.all, a.stream.first + row);
}

// The samples of a minibatch, and those of a whole rollout in their order; nothing of those that do not count.
template <class E, int policy>
NACELLE_INLINE void gather_minibatch(const View<E>& view, const StreamArguments& a, Items items) {
    if (a.all.policy[policy].found[stopped] != 0) return;
    const Memory& memory = a.all.memory[Spec<policy>::group];
    const Minibatch<E, policy> batch(view, a.all);
    constexpr int rows = int(gather_rows(width_of<E, policy>, keeps_pairs));
    gather<E, policy, rows>(a, items, [&](uint32_t i) {
        const size_t at = batch.place(view, a.all, i);
        return counts(counting_flag<E, GroupOf<E, policy>>(memory, at))
                   ? seen_at<E, policy>(a.all, at)
                   : SeenRow<E, policy>{};
    });
}
template <class E, int policy>
NACELLE_INLINE void gather_samples(const View<E>& view, const StreamArguments& a, Items items) {
    gather<E, policy>(a, items, [&](uint32_t i) {
        return kept_row<width_of<E, policy>>(a.all.memory[Spec<policy>::group],
                                             place_of<E, policy>(view, a.all, i));
    });
}

// What is asked for its value behind a rollout: where the agents stand at its end, and all that they saw before where
// values have a network of their own; then where episodes were cut short, of every step.
template <class E, int policy> struct Valued {
    const Memory& memory;
    size_t at = 0;
    bool standing, there;

    NACELLE_INLINE Valued(const View<E>& view, const Arguments& a, uint32_t i)
        : memory(a.memory[Spec<policy>::group]) {
        const uint32_t agents = learners<policy>(a.policy[policy]),
                       steps = Networks<E, policy>::values_later ? a.steps + 1 : 1,
                       before = Networks<E, policy>::values_later ? 0 : a.steps;
        standing = i < steps * agents;
        const uint32_t k = standing ? i + before * agents : i - steps * agents;
        at = size_t(k / agents) * group_rows<E, policy>(view) +
             learner_row<E, policy>(a, k % agents);
        there = standing || is_cut(memory.flag[at]);
    }
    NACELLE_INLINE SeenRow<E, policy> obs(const Arguments& a) const {
        return seen_at<E, policy>(a, at, !standing);
    }
};
template <class E, int policy>
NACELLE_INLINE void gather_valued(const View<E>& view, const StreamArguments& a, Items items) {
    gather<E, policy>(a, items,
                      [&](uint32_t i) { return Valued<E, policy>(view, a.all, i).obs(a.all); });
}
// The same of those rows alone that are marked. Mostly none are: few blocks look through the marks of all, 32 products'
// blocks of rows at a time, and where there are any each takes its share of those.
template <class E, int policy>
NACELLE_INLINE void gather_marked(const View<E>& view, const StreamArguments& a, Items items) {
    constexpr uint32_t lanes = gather_lanes(width_of<E, policy>, keeps_pairs),
                       lookers = most_blocks / lanes, bytes = product_rows / 32;
    static_assert(bytes == sizeof(uint32_t) && product_rows == block_threads);
    const uint32_t block = uint32_t(items.begin / block_threads), share = block % lanes,
                   down = blocks_down(a.stream.rows);
    const auto* const present = reinterpret_cast<const uint32_t*>(a.stream.present);
    if (block / lanes >= lookers) return;
    for (uint32_t first = block / lanes; first < down; first += 32 * lookers) {
        const uint32_t mine = first + threadIdx.x % 32 * lookers;
        uint32_t left = __ballot_sync(~0u, mine < down && present[mine] != 0);
        for (; left; left &= left - 1) {
            const uint32_t rows = first + uint32_t(__ffs(int(left)) - 1) * lookers;
            const uint64_t at =
                (uint64_t(rows) * lanes + share) * uint32_t(block_threads) + threadIdx.x;
            gather<E, policy>(a, Items{at, at + 1}, [&](uint32_t i) {
                const Valued<E, policy> valued(view, a.all, i);
                return valued.there ? valued.obs(a.all) : SeenRow<E, policy>{};
            });
        }
    }
}
// Which 32 of these rows have anything to be valued; an item is a row.
template <class E, int policy>
NACELLE_INLINE void mark_valued(const View<E>& view, const StreamArguments& a, Items items) {
    const uint32_t row = uint32_t(items.begin);
    const bool there =
        row < a.stream.rows && Valued<E, policy>(view, a.all, a.stream.first + row).there;
    const uint32_t any = __ballot_sync(~0u, there);
    if (row % 32 == 0 && row < whole_blocks(a.stream.rows)) a.stream.present[row / 32] = any != 0;
}
// From the outputs to where values are kept.
template <class E, int policy>
NACELLE_INLINE void keep_values(const View<E>& view, const StreamArguments& a, Items items) {
    using N = Networks<E, policy>;
    constexpr int network = N::separate ? 1 : 0, output = N::shared ? N::value_output : 0;
    const uint32_t row = uint32_t(items.begin);
    if (row >= a.stream.rows || (a.stream.present && !a.stream.present[row / 32])) return;
    const Valued<E, policy> valued(view, a.all, a.stream.first + row);
    if (!valued.there) return;
    (valued.standing ? valued.memory.value : valued.memory.final_value)[valued.at] =
        a.stream.outputs[network][size_t(row) * a.stream.pitch[network] + uint32_t(output)];
}

// Choices, from the first network's outputs; an item is a row.
template <class E, int policy>
NACELLE_INLINE void choose_streamed(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    if (items.begin >= a.stream.rows) return;
    const size_t row = C::row_of(a.all, a.stream.first + items.begin);
    const float* const out = a.stream.outputs[0] + size_t(items.begin) * a.stream.pitch[0];
    if constexpr (C::N::shared && Spec<policy>::kind == Kind::trained)
        a.all.memory[C::group].value[size_t(a.all.step) * group_rows<E, policy>(view) + row] =
            out[C::N::value_output];
    C::choose(view, a.all, row, out);
}
template <class E, int policy>
NACELLE_INLINE void act_streamed(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    if (items.begin >= a.stream.rows) return;
    act_on<E, policy>(view, a.all, C::row_of(a.all, a.stream.first + items.begin),
                      a.stream.outputs[0] + size_t(items.begin) * a.stream.pitch[0]);
}
// How the probability of a rollout's choices has moved, and values of the same network.
template <class E, int policy>
NACELLE_INLINE void review_streamed(const View<E>& view, const StreamArguments& a, Items items) {
    if (items.begin >= a.stream.rows || a.all.policy[policy].found[stopped] != 0) return;
    review_row<E, policy>(a.all,
                          place_of<E, policy>(view, a.all, a.stream.first + uint32_t(items.begin)),
                          a.stream.outputs[0] + size_t(items.begin) * a.stream.pitch[0]);
}

}
