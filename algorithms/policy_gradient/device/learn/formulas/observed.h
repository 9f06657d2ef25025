#pragma once
#include <learn/formulas/record.h>
// What the networks see of a row: its numbers and, behind them, its images, element by element. Without
// images that lies in the environment's arrays as it is; else it is put together before each step.

namespace learn {

template <class E, class G> struct Observed {
    static constexpr int group = group_index<E, G>(), numbers = numbers_in<ObsOf<E, G>>,
                         width = seen_in<ObsOf<E, G>>;
    static constexpr bool gathered = width > numbers;

    // The rows as they are, and those where episodes ended.
    static NACELLE_INLINE const float* now(const View<E>& view, const Arguments& a) {
        if constexpr (gathered) return a.memory[group].seen;
        else return group_column<E, float, Role::obs, group>(view);
    }
    // A row before step t of a rollout: what a team saw between its first and its last step lies where it is kept, and
    // so does what it saw first where a launch takes all steps.
    static NACELLE_INLINE auto at_step(const View<E>& view, const Arguments& a, uint32_t t,
                                       size_t row, bool first_is_kept = false) {
        const bool kept = is_team<E> && !has_image<E> && (t > 0 || first_is_kept) && t < a.steps;
        const size_t at = size_t(t) * rows_of<E, G>(view) + row;
        const float* const floats = now(view, a) + row * size_t(width);
#if NACELLE_GPU
        if constexpr (keeps_pairs)
            return kept ? StandingRow<width>{nullptr, kept_row<width>(a.memory[group], at)}
                        : StandingRow<width>{floats};
        else
#endif
            return kept ? kept_row<width>(a.memory[group], at) : floats;
    }
    static NACELLE_INLINE const float* final(const View<E>& view, const Arguments& a) {
        if constexpr (gathered) return a.memory[group].seen_final;
        else return group_column<E, float, Role::final_obs, group>(view);
    }
    static NACELLE_INLINE float number(const View<E>& view, bool final, size_t row, int k) {
        if (k < numbers) {
            const float* const column = final ? group_column<E, float, Role::final_obs, group>(view)
                                              : group_column<E, float, Role::obs, group>(view);
            return column[row * size_t(numbers) + size_t(k)];
        }
        ObsOf<E, G> obs;
        bind_images<E, G>(view, final, row, obs);
        int place = k - numbers;
        float found = 0;
        for_each_element(obs, [&](auto, int, auto& f) {
            if constexpr (form_of<decltype(f)> == Form::array) {
                constexpr int count = int(Leaf<bare<decltype(f)>>::count);
                if (place >= 0 && place < count) found = float(f.first[place]);
                place -= count;
            }
        });
        return found;
    }
};

// An item is a number of a row. Where episodes were cut short in the step before, their ends, too.
template <class E, int group>
NACELLE_INLINE void gather_images(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupNumber<E, group>;
    using S = Observed<E, G>;
    const Memory& memory = a.memory[group];
    const size_t rows = rows_of<E, G>(view), width = size_t(S::width);
    for (uint64_t at = items.begin; at < min(items.end, uint64_t(rows * width)); ++at) {
        const size_t row = size_t(at) / width;
        const int k = int(size_t(at) % width);
        memory.seen[at] = S::number(view, false, row, k);
        if (a.step > 0 && is_cut(memory.flag[size_t(a.step - 1) * rows + row]))
            memory.seen_final[at] = S::number(view, true, row, k);
    }
}

}
