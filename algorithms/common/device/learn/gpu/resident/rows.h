#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/resident/network.h>
// One step's rows of a team's policy through all layers in one launch: a block keeps the network's weights and takes
// rows by turns, from what they see to what they do. While some warps choose, the others bring what the next rows see.

namespace learn {

// Two numbers of an observation; zeros behind its last one.
template <int policy, int width, class Network>
NACELLE_INLINE void put_seen(const Network& network, int row, int pair, const float* obs,
                             const Memory& memory) {
    float two[2];
    NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
        const int k = 2 * pair + i;
        two[i] = obs && k < width ? seen_of<policy>(obs, k, memory.mean, memory.scale) : 0;
    }
    network.put(row, pair, two[0], two[1]);
}

// use(row, outputs) on one thread for each of the policy's rows.
template <class E, int policy, class Use>
NACELLE_INLINE void over_resident_rows(const View<E>& view, const Arguments& a, Items items,
                                       Use&& use) {
    using C = Chooser<E, policy>;
    using L = typename C::N::Actor;
    constexpr int rows = resident_rows_for<int>(L::width, L::count, L::planes),
                  choosers = (rows + 31) / 32 * 32;
    using Network = ResidentNetwork<L, rows>;
    const Memory& memory = a.memory[C::group];
    const uint32_t agents = a.policy[policy].agents, tiles = (agents + rows - 1) / rows;
    const Network network(a.policy[policy].prepared);
#if defined(NACELLE_EMULATE)
    constexpr uint32_t blocks = emulated_blocks;
#else
    constexpr uint32_t blocks = resident_blocks;
#endif
    const auto see = [&](uint32_t tile, int first, int threads) {
        NACELLE_FOURFOLD for (int i = int(threadIdx.x) - first; i < rows * Network::pairs;
                              i += threads) {
            const int row = i / Network::pairs;
            const uint32_t agent = tile * uint32_t(rows) + uint32_t(row);
            put_seen<policy, int(C::width)>(
                network, row, i % Network::pairs,
                agent < agents ? C::obs_of(view, a, C::row_of(a, agent)) : nullptr, memory);
        }
    };
    uint32_t tile = uint32_t(items.begin / resident_threads);
    see(tile, 0, resident_threads);
    network.await();
    NACELLE_ROLLED for (; tile < tiles; tile += blocks) {
        network.forward();
        const uint32_t next = tile + blocks;
        if (int(threadIdx.x) >= choosers) {
            if (next < tiles) see(next, choosers, resident_threads - choosers);
        } else {
            const uint32_t agent = tile * uint32_t(rows) + threadIdx.x;
            if (int(threadIdx.x) < rows && agent < agents)
                use(C::row_of(a, agent), network.outputs(int(threadIdx.x)));
        }
    }
}
template <class E, int policy>
NACELLE_INLINE void choose_resident(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    constexpr bool learns = Spec<policy>::kind == Kind::trained;
    over_resident_rows<E, policy>(view, a, items, [&](size_t row, const float* out) {
        if (learns && a.step > 0) C::keep_cut(view, a, a.step - 1, row);
        if constexpr (C::N::shared && learns)
            a.memory[C::group].value[size_t(a.step) * group_rows<E, policy>(view) + row] =
                out[C::N::value_output];
        C::choose(view, a, row, out);
    });
}
template <class E, int policy>
NACELLE_INLINE void act_resident(const View<E>& view, const Arguments& a, Items items) {
    over_resident_rows<E, policy>(view, a, items, [&](size_t row, const float* out) {
        act_on<E, policy>(view, a, row, out);
    });
}

}
