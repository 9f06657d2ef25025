#pragma once
#include <learn/cpu/rollout.h>
// The policies' choices from the current observations, into the action arrays.

namespace learn {

template <class E, int policy>
void act_for(const View<E>& view, const Arguments& a, size_t first, size_t end) {
    constexpr int width = width_of<E, policy>;
    const float* const obs = Observed<E, GroupOf<E, policy>>::now(view, a);
    for (size_t agent = first; agent < end; agent += rows_together) {
        size_t rows[rows_together];
        const int n = int(min(end - agent, size_t(rows_together)));
        for (int i = 0; i < n; ++i)
            rows[i] = row_of_agent<E, policy>(a, uint32_t(agent) + uint32_t(i));
        if constexpr (Spec<policy>::kind == Kind::random)
            for (int i = 0; i < n; ++i) act_on<E, policy>(view, a, rows[i], nullptr);
        else {
            Inference<E, policy>& networks = Inference<E, policy>::here();
            networks.put(n, [&](int i) { return obs + rows[i] * size_t(width); });
            if constexpr (has_memory<policy>) {
                using G = GroupOf<E, policy>;
                const auto remembered = [&](int i) {
                    return a.policy[policy].remembered +
                           rows[i] * size_t(Networks<E, policy>::memory);
                };
                networks.recall(n, [&](int i) -> const float* {
                    return begins<E>(view, rows[i] / size_t(count_of<E, G>)) ? nullptr
                                                                             : remembered(i);
                });
                networks.forward(n);
                networks.forward_values(n);
                networks.keep(n, remembered);
            } else networks.forward(n);
            for (int i = 0; i < n; ++i) act_on<E, policy>(view, a, rows[i], networks.output(i));
        }
    }
}
// An item for each agent.
template <class E, int policy> void act(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t end = min(items.end, uint64_t(a.policy[policy].agents));
    const LoadedNetworks<E, policy> loaded(a);
    act_for<E, policy>(view, a, size_t(items.begin), size_t(end));
}

}
