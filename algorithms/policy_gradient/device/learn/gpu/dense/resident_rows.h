#pragma once
#include <learn/gpu/dense/resident_network.h>
#include <learn/gpu/dense/rows.h>
#include <learn/gpu/rollout/choices.h>
// One step's rows of a team's policy through all layers in one launch: a block keeps the network's weights and takes
// rows by turns, from what they see to what they do. While some warps choose, the others bring what the next rows see.

namespace learn {

// Two numbers of an observation; zeros behind its last one.
template <int policy, int width, class Network, class Row>
NACELLE_INLINE void put_seen(const Network& network, int row, int pair, const Row& obs,
                             const Memory& memory) {
    if constexpr (in_pairs<Row>)
        network.put_pair(row, pair,
                         bool(obs) && pair < pairs_of(width) ? obs.pair(pair, memory) : 0);
    else {
        float two[2];
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            const int k = 2 * pair + i;
            two[i] =
                bool(obs) && k < width ? coded_of<policy>(obs, k, memory.mean, memory.scale) : 0;
        }
        network.put(row, pair, two[0], two[1]);
    }
}

// The rows of blocks that keep a policy's networks; a critic has no more outputs than an actor, and fits where that does.
template <class E, int policy> constexpr int resident_rows_of() {
    using L = typename Networks<E, policy>::Actor;
    return resident_rows_for<int>(L::width, L::count, L::planes);
}
// use(number, outputs) on one thread for each row below `count`; from(number) is where its numbers lie, or null.
template <class E, int policy, class L, class From, class Use>
NACELLE_INLINE void over_resident_rows(const Arguments& a, const float* prepared, Items items,
                                       uint32_t count, From&& from, Use&& use) {
    constexpr int rows = resident_rows_of<E, policy>(), choosers = (rows + 31) / 32 * 32,
                  row_threads = 4;
    static_assert(choosers + rows * row_threads <= resident_threads);
    using Block = ResidentBlock<L, rows, 0>;
    using Network = ResidentNetwork<Block>;
#if defined(NACELLE_EMULATE)
    constexpr uint32_t blocks = emulated_blocks;
#else
    constexpr uint32_t blocks = resident_blocks;
#endif
    const Memory& memory = a.memory[Spec<policy>::group];
    const uint32_t tiles = (count + rows - 1) / rows;
    Network network(prepared, block_memory<Block::layout.words>());
    // Neighbouring threads, from the given one on, have a row. Whether it is there.
    const auto see = [&](uint32_t tile, int first) {
        const int thread = int(threadIdx.x) - first, row = thread / row_threads;
        if (row >= rows) return false;
        const uint32_t number = tile * uint32_t(rows) + uint32_t(row);
        using Row = decltype(from(number));
        const Row obs = number < count ? from(number) : Row{};
        NACELLE_EIGHTFOLD for (int k = thread % row_threads; k < Network::pairs; k += row_threads)
            put_seen<policy, width_of<E, policy>>(network, row, k, obs, memory);
        return bool(obs);
    };
    uint32_t tile = uint32_t(items.begin / resident_threads);
    bool any = see(tile, 0);
    network.await();
    NACELLE_ROLLED for (; tile < tiles; tile += blocks) {
        const bool present = __syncthreads_or(any);
        any = false;
        if (present) network.layers();
        const uint32_t next = tile + blocks;
        if (int(threadIdx.x) >= choosers) {
            if (next < tiles) any = see(next, choosers);
        } else {
            const uint32_t number = tile * uint32_t(rows) + threadIdx.x;
            if (present && int(threadIdx.x) < rows && number < count && bool(from(number)))
                use(number, network.outputs(int(threadIdx.x)));
        }
    }
}
// use(row, outputs) for where each of the policy's agents stands, in a rollout or outside of one.
template <class E, int policy, bool in_rollout, class Use>
NACELLE_INLINE void over_resident_agents(const View<E>& view, const Arguments& a, Items items,
                                         Use&& use) {
    using C = Chooser<E, policy>;
    over_resident_rows<E, policy, typename C::N::Actor>(
        a, a.policy[policy].prepared, items, a.policy[policy].agents,
        [&](uint32_t agent) {
            const size_t row = C::row_of(a, agent);
            if constexpr (in_rollout) return C::standing(view, a, row);
            else return C::obs_of(view, a, row);
        },
        [&](uint32_t agent, const float* out) { use(C::row_of(a, agent), out); });
}
template <class E, int policy>
NACELLE_INLINE void choose_resident(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    constexpr bool learns = Spec<policy>::kind == Kind::trained;
    over_resident_agents<E, policy, true>(view, a, items, [&](size_t row, const float* out) {
        C::keep_obs(view, a, row);
        if (learns && a.step > 0) C::keep_cut(view, a, a.step - 1, row);
        if constexpr (C::N::shared && learns)
            a.memory[C::group].value[size_t(a.step) * group_rows<E, policy>(view) + row] =
                out[C::N::value_output];
        C::choose(view, a, row, out);
    });
}
template <class E, int policy>
NACELLE_INLINE void act_resident(const View<E>& view, const Arguments& a, Items items) {
    over_resident_agents<E, policy, false>(view, a, items, [&](size_t row, const float* out) {
        act_on<E, policy>(view, a, row, out);
    });
}
// The values of what a rollout saw and of where episodes were cut short, as far as they are not there yet.
template <class E, int policy>
NACELLE_INLINE void values_resident(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    using L = Either<N::separate, typename N::Critic, typename N::Actor>;
    constexpr int network = N::separate ? Prepared<E, policy>::critic : 0,
                  output = N::shared ? N::value_output : 0;
    const uint32_t agents = learners<policy>(a.policy[policy]),
                   count = ((N::values_later ? a.steps + 1 : 1) + a.steps) * agents;
    over_resident_rows<E, policy, L>(
        a, a.policy[policy].prepared + network, items, count,
        [&](uint32_t i) {
            const Valued<E, policy> valued(view, a, i);
            return valued.there ? valued.obs(a) : SeenRow<E, policy>{};
        },
        [&](uint32_t i, const float* out) {
            const Valued<E, policy> valued(view, a, i);
            (valued.standing ? valued.memory.value : valued.memory.final_value)[valued.at] =
                out[output];
        });
}

}
