#pragma once
#include <learn/cpu/pilot.h>
// The policies' choices from the current observations, into the action arrays.

namespace learn {

template <class E, int policy>
void act_for(const View<E>& view, const Arguments& a, size_t first, size_t end) {
    using G = GroupOf<E, policy>;
    using H = Head<ActionOf<E, G>, Spec<policy>>;
    constexpr int group = Spec<policy>::group, width = numbers_in<ObsOf<E, G>>,
                  choices = choices_in<ActionOf<E, G>>;
    const float* const obs = group_column<E, float, Role::obs, group>(view);
    const uint64_t tick = view.head.beat->clock;
    const auto choose = [&](size_t row, const float* out) {
        const uint8_t* mask = nullptr;
        if constexpr (has_mask<E, G>)
            mask = group_column<E, uint8_t, Role::mask, group>(view) + row * size_t(choices);
        Rng rng(view.head.seed, Domain::policy, tick,
                view.head.first_env * uint32_t(count_of<E, G>) + uint32_t(row), uint32_t(group));
        float choice[H::parts];
        if (!out)
            H::uniform(
                mask, [&] { return rng.bits(); }, choice);
        else if (a.greedy) H::best(out, mask, choice);
        else
            H::draw(
                out, mask, [&] { return rng.bits(); }, choice);
        ActionOf<E, G> action;
        H::act(choice, action);
        store_row<E>(view.array, group_slot<E>(Role::action, group), row, rows_of<E, G>(view),
                     action);
    };
    for (size_t seat = first; seat < end; seat += rows_together) {
        size_t rows[rows_together];
        const int n = int(min(end - seat, size_t(rows_together)));
        for (int i = 0; i < n; ++i)
            rows[i] = row_of_seat<E, policy>(a, uint32_t(seat) + uint32_t(i));
        if constexpr (Spec<policy>::kind == Kind::random)
            for (int i = 0; i < n; ++i) choose(rows[i], nullptr);
        else {
            Mind<E, policy>& mind = Mind<E, policy>::here();
            mind.see(n, [&](int i) { return obs + rows[i] * size_t(width); });
            mind.think(n);
            for (int i = 0; i < n; ++i) choose(rows[i], mind.output(i));
        }
    }
}
// An item for each seat.
template <class E, int policy> void act(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t end = min(items.end, uint64_t(a.pupil[policy].seats));
    if constexpr (Spec<policy>::kind != Kind::random) Mind<E, policy>::here().load(a);
    act_for<E, policy>(view, a, size_t(items.begin), size_t(end));
}

}
