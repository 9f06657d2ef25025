#pragma once
#include <learn/loss.h>
#include <learn/record.h>
#include <learn/strips.h>
// From rewards to advantages: how large returns are, then what each choice was worth.

namespace learn {

// A GPU's thread reads so many steps at once: one after the other it would wait for memory each time.
#if NACELLE_GPU
inline constexpr uint32_t read_together = 8;
#else
inline constexpr uint32_t read_together = 1;
#endif
// The discounted return of each agent goes on from iteration to iteration; its spread scales rewards.
template <class E, int policy>
NACELLE_INLINE void measure_returns(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float discount = state.dials[gamma];
    const double shift = state.carried[return_mean];
    over_strips<2>(items, state.agents, state.slots, [&](uint32_t first, int n, Sums<2>& sums) {
        float running[strip];
        uint32_t row[strip];
        for (int i = 0; i < n; ++i) {
            row[i] = row_of_agent<E, policy>(a, first + uint32_t(i));
            running[i] = memory.running[row[i]];
        }
        for (uint32_t t = 0; t < a.steps; t += read_together) {
            float reward[read_together][strip];
            uint8_t flag[read_together][strip];
            const uint32_t now = min(a.steps - t, read_together);
            NACELLE_UNROLL for (uint32_t k = 0; k < read_together; ++k) {
                for (int i = 0; i < n && k < now; ++i) {
                    reward[k][i] = memory.reward[size_t(t + k) * rows + row[i]];
                    flag[k][i] = memory.flag[size_t(t + k) * rows + row[i]];
                }
            }
            NACELLE_UNROLL for (uint32_t k = 0; k < read_together; ++k) {
                for (int i = 0; i < n && k < now; ++i) {
                    running[i] = fused(running[i], discount, reward[k][i]);
                    const double off = double(running[i]) - shift;
                    sums.at[0] += off;
                    sums.at[1] += off * off;
                    running[i] = flag[k][i] & (terminated | truncated) ? 0.0f : running[i];
                }
            }
        }
        for (int i = 0; i < n; ++i) memory.running[row[i]] = running[i];
    });
}
template <class E, int policy>
NACELLE_INLINE void scale_rewards(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Sums<2> sums = sum_of<2>(state.slots, blocks_of(state.agents));
    if (items.begin != 0) return;
    double* const carried = state.carried;
    Spread spread{carried[return_count], carried[return_mean], carried[return_squares]};
    spread.add(double(a.steps) * double(state.agents), sums.at[0], sums.at[1],
               carried[return_mean]);
    carried[return_count] = spread.count;
    carried[return_mean] = spread.mean;
    carried[return_squares] = spread.squares;
    state.found[reward_scale] = state.scales_rewards ? 1.0 / root(max(spread.variance(), 1e-8))
                                                     : double(state.reward_factor);
}

// Where one row stands on the way back through its steps.
struct Backward {
    float next_value, next_target, carried, pending;
    bool waits = false;    // the next own turn is not known: it lies behind the rollout
};

// Generalised advantage estimation (Schulman and others, 2016), or V-trace (Espeholt and others, 2018)
// where the choices' probabilities have moved. Rewards between two turns of an agent's own belong to
// the first of them. False where what the choice led to is not known: values are learnt for an agent's own
// turns, so that one of a moment in which it waits would say nothing.
NACELLE_INLINE bool step_back(Backward& b, float reward, uint8_t flag, float value,
                              float final_value, float ratio, const float* dials, bool traced,
                              float& advantage, float& target) {
    if (flag & (terminated | truncated)) {
        b.next_value = b.next_target = is_cut(flag) ? final_value : 0.0f;
        b.carried = b.pending = 0;
        b.waits = false;
    }
    b.pending += reward;
    advantage = target = 0;
    if (!(flag & acted)) return true;
    if (b.waits) {
        b = {value, value, 0, 0};
        target = value;
        return false;
    }
    const float discount = dials[gamma];
    const float rho = traced ? min(ratio, dials[ratio_bound]) : 1.0f;
    const float trace = traced ? min(ratio, dials[trace_bound]) : 1.0f;
    const float delta = rho * (b.pending + discount * b.next_value - value);
    b.carried = delta + discount * dials[lambda] * trace * b.carried;
    target = value + b.carried;
    advantage = traced ? rho * (b.pending + discount * b.next_target - value) : b.carried;
    b.next_value = value;
    b.next_target = target;
    b.pending = 0;
    return true;
}

// What one step of a row's way back needs.
struct Ahead {
    size_t at;
    float reward, value, ratio;
    uint8_t flag;
};
template <class E, int policy>
NACELLE_INLINE Ahead ahead(const Arguments& a, const Memory& memory, size_t rows, uint32_t t,
                           uint32_t agent, bool traced) {
    const size_t at = size_t(t) * rows + row_of_agent<E, policy>(a, agent);
    return {at, memory.reward[at], memory.value[at], traced ? memory.ratio[at] : 1.0f,
            memory.flag[at]};
}
// Whether it is not this row's turn when the rollout ends.
template <class E, int policy> NACELLE_INLINE bool waits(const View<E>& view, uint32_t row) {
    using G = GroupOf<E, policy>;
    if constexpr (has_turn<E, G>)
        return (group_column<E, uint8_t, Role::turn, Spec<policy>::group>(view)[row] & 3) !=
               uint8_t(Turn::acts);
    else return false;
}
template <class E, int policy>
NACELLE_INLINE void find_advantages(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float scale = float(state.found[reward_scale]), most = state.most_reward;
    const bool traced = memory.ratio != nullptr;
    float dials[dial_count];
    NACELLE_UNROLL for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    over_strips<6>(items, state.agents, state.slots, [&](uint32_t first, int n, Sums<6>& sums) {
        Backward back[strip];
        for (int i = 0; i < n; ++i) {
            const uint32_t row = row_of_agent<E, policy>(a, first + uint32_t(i));
            const float value = memory.value[size_t(a.steps) * rows + row];
            back[i] = {value, value, 0, 0, waits<E, policy>(view, row)};
        }
        Ahead read[read_together][strip];
        for (uint32_t left = a.steps; left > 0;) {
            const uint32_t now_read = min(left, read_together);
            NACELLE_UNROLL for (uint32_t k = 0; k < read_together; ++k) {
                for (int i = 0; i < n && k < now_read; ++i)
                    read[k][i] = ahead<E, policy>(a, memory, rows, left - 1 - k,
                                                  first + uint32_t(i), traced);
            }
            left -= now_read;
            const auto backward = [&](uint32_t k, int i) {
                const Ahead now = read[k][i];
                float reward = now.reward * scale;
                if (most > 0) reward = clamp(reward, -most, most);
                float advantage, target;
                const bool known = step_back(back[i], reward, now.flag, now.value,
                                             is_cut(now.flag) ? memory.final_value[now.at] : 0.0f,
                                             now.ratio, dials, traced, advantage, target);
                if (memory.experience)
                    pack_experience(memory, now.at,
                                    {memory.log_probability[now.at], now.value, advantage, target});
                memory.advantage[now.at] = advantage;
                memory.target[now.at] = target;
                if (!known) memory.flag[now.at] = now.flag | unsettled;
                if (!known || !(now.flag & acted)) return;
                const double error = double(target) - double(now.value);
                const double terms[6] = {1,
                                         advantage,
                                         double(advantage) * double(advantage),
                                         target,
                                         double(target) * double(target),
                                         error * error};
                for (int term = 0; term < 6; ++term) sums.at[term] += terms[term];
            };
            NACELLE_UNROLL for (uint32_t k = 0; k < read_together; ++k) {
                for (int i = 0; i < n && k < now_read; ++i) backward(k, i);
            }
        }
    });
}
// One over the deviation, and the mean, of numbers of which these are the sums.
struct Moments {
    double mean, scale;
    NACELLE_INLINE Moments(double count, double sum, double squares) {
        mean = count > 0 ? sum / count : 0;
        const double variance = count > 0 ? max(squares / count - mean * mean, 0.0) : 1;
        scale = 1 / (root(variance) + 1e-8);
    }
};
template <class E, int policy>
NACELLE_INLINE void sum_advantages(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Sums<6> sums = sum_of<6>(state.slots, blocks_of(state.agents));
    const double* const sum = sums.at;
    if (items.begin != 0) return;
    const Moments moments(sum[0], sum[1], sum[2]);
    state.found[advantage_mean] = state.scales_advantages ? moments.mean : 0;
    state.found[advantage_scale] = state.scales_advantages ? moments.scale : 1;
    const double mean = sum[0] > 0 ? sum[3] / sum[0] : 0;
    const double spread = sum[0] > 0 ? sum[4] / sum[0] - mean * mean : 0;
    state.found[explained] = spread > 1e-12 ? 1 - sum[5] / sum[0] / spread : 0;
}

}
