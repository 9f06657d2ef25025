#pragma once
#include <learn/returns.h>
// The same passes by blocks of a GPU. A block has 32 agents at a time, lane by lane, so that a step is read as a whole,
// and four warps, which share the steps of a chunk: each reads its own into registers while the chunk before is
// followed, and writes and adds up what came of it. One step after the other goes the first warp alone, through what
// lies in shared memory.

namespace learn {

inline constexpr uint32_t chunk_steps = 16, sharing_warps = block_threads / agents_together,
                          own_steps = chunk_steps / sharing_warps, steps_ahead = 4;
template <class T> using ChunkOf = T[chunk_steps][agents_together];
template <bool is> struct Known { static constexpr bool value = is; };

// load(step) for all steps, in chunks; put(place in the chunk, what was loaded); follow(steps in the chunk) by one warp,
// and then use(place, step, what was loaded).
template <class Load, class Put, class Follow, class Use>
NACELLE_INLINE void over_chunks(uint32_t steps, Load&& load, Put&& put, Follow&& follow,
                                Use&& use) {
    using Loaded = decltype(load(0u));
    const uint32_t warp = threadIdx.x / agents_together;
    Loaded next[own_steps];
    const auto each_own = [&](uint32_t first, auto&& fn) {
        NACELLE_UNROLL for (uint32_t k = 0; k < own_steps; ++k) {
            const uint32_t place = warp + k * sharing_warps;
            if (first + place < steps) fn(k, place, first + place);
        }
    };
    const auto load_chunk = [&](uint32_t first) {
        each_own(first, [&](uint32_t k, uint32_t, uint32_t step) { next[k] = load(step); });
    };
    load_chunk(0);
    NACELLE_ROLLED for (uint32_t first = 0; first < steps; first += chunk_steps) {
        Loaded now[own_steps];
        NACELLE_UNROLL for (uint32_t k = 0; k < own_steps; ++k) now[k] = next[k];
        each_own(first,
                 [&](uint32_t k, uint32_t place, uint32_t step) { put(place, step, now[k]); });
        load_chunk(first + chunk_steps);
        __syncthreads();
        if (warp == 0) follow(min(steps - first, chunk_steps));
        __syncthreads();
        each_own(first,
                 [&](uint32_t k, uint32_t place, uint32_t step) { use(place, step, now[k]); });
    }
}
// fn(place, which of those that were read) for the places of a chunk; read(place, which) for some of them ahead.
template <class Read, class Fn>
NACELLE_INLINE void one_by_one(uint32_t count, Read&& read, Fn&& fn) {
    NACELLE_ROLLED for (uint32_t first = 0; first < count; first += steps_ahead) {
        NACELLE_UNROLL for (uint32_t k = 0; k < steps_ahead; ++k) read(first + k, k);
        NACELLE_UNROLL for (uint32_t k = 0; k < steps_ahead; ++k) {
            if (first + k < count) fn(first + k, k);
        }
    }
}
// fn(agent, whether there is one) for a block's agents; the block's sums go into its slot. Whether it was the last one.
template <int count, class Fn>
NACELLE_INLINE bool over_agents(Items items, const PolicyState& state, Fn&& fn) {
    const uint32_t blocks = agent_blocks(state.agents),
                   block = uint32_t(items.begin / block_threads);
    Sums<count> sums;
    for (uint32_t first = block * agents_together; first < state.agents;
         first += blocks * agents_together) {
        const uint32_t agent = first + threadIdx.x % agents_together;
        fn(min(agent, state.agents - 1), agent < state.agents, sums);
    }
    store_sums<count>(sums, state.slots + size_t(block) * count);
    return arrives_last(state.arrived, blocks);
}

// The discounted return of each agent goes on from iteration to iteration; its spread scales rewards.
template <class E, int policy>
NACELLE_INLINE void measure_returns(const View<E>& view, const Arguments& a, Items items) {
    __shared__ ChunkOf<float> running_at;
    __shared__ ChunkOf<uint8_t> ends_at;
    struct Loaded {
        float reward;
        uint8_t flag;
    };
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float discount = state.dials[gamma];
    const double shift = state.carried[return_mean];
    const uint32_t lane = threadIdx.x % agents_together;
    const bool follows = threadIdx.x < agents_together;
    const auto of_agent = [&](uint32_t agent, bool there, Sums<2>& sums) {
        const uint32_t row = row_of_agent<E, policy>(a, agent);
        float running = follows ? memory.running[row] : 0.0f;
        over_chunks(
            a.steps,
            [&](uint32_t step) {
                const size_t at = size_t(step) * rows + row;
                return Loaded{memory.reward[at], memory.flag[at]};
            },
            [&](uint32_t place, uint32_t, const Loaded& loaded) {
                running_at[place][lane] = loaded.reward;
                ends_at[place][lane] = loaded.flag & (terminated | truncated);
            },
            [&](uint32_t count) {
                float reward[steps_ahead];
                uint8_t ends[steps_ahead];
                one_by_one(
                    count,
                    [&](uint32_t place, uint32_t k) {
                        reward[k] = running_at[place][lane];
                        ends[k] = ends_at[place][lane];
                    },
                    [&](uint32_t place, uint32_t k) {
                        running = fused(running, discount, reward[k]);
                        running_at[place][lane] = running;
                        running = ends[k] ? 0.0f : running;
                    });
            },
            [&](uint32_t place, uint32_t, const Loaded&) {
                if (!there) return;
                const double off = double(running_at[place][lane]) - shift;
                sums.at[0] += off;
                sums.at[1] += off * off;
            });
        if (follows && there) memory.running[row] = running;
    };
    if (!over_agents<2>(items, state, of_agent)) return;
    const Sums<2> sums = sum_of<2>(state.slots, agent_blocks(state.agents));
    if (threadIdx.x == 0) settle_returns(a, state, sums);
}

template <class E, int policy>
NACELLE_INLINE void find_advantages(const View<E>& view, const Arguments& a, Items items) {
    // Advantages come to lie where rewards were, and targets where values were.
    __shared__ ChunkOf<float> reward_at, value_at, final_at, ratio_at;
    __shared__ ChunkOf<uint8_t> flag_at;
    struct Loaded {
        float reward, value, log_probability, ratio;
        uint8_t flag;
    };
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float scale = float(state.found[reward_scale]), most = state.most_reward;
    const bool traced = memory.ratio != nullptr, packs = memory.experience != nullptr;
    float dials[dial_count];
    NACELLE_UNROLL for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    const uint32_t lane = threadIdx.x % agents_together;
    // What is known when this compiles is not looked at step by step.
    const auto follow = [&](Backward& back, uint32_t count, auto known_traced) {
        constexpr bool is_traced = decltype(known_traced)::value;
        float reward[steps_ahead], value[steps_ahead], end[steps_ahead], ratio[steps_ahead];
        uint8_t flag[steps_ahead];
        one_by_one(
            count,
            [&](uint32_t place, uint32_t k) {
                reward[k] = reward_at[place][lane];
                value[k] = value_at[place][lane];
                end[k] = final_at[place][lane];
                ratio[k] = is_traced ? ratio_at[place][lane] : 1.0f;
                flag[k] = flag_at[place][lane];
            },
            [&](uint32_t place, uint32_t k) {
                const uint8_t its = has_turn<E, GroupOf<E, policy>> ? flag[k] : flag[k] | acted;
                float advantage, target;
                const bool known = step_back(back, reward[k], its, value[k], end[k], ratio[k],
                                             dials, is_traced, advantage, target);
                reward_at[place][lane] = advantage;
                value_at[place][lane] = target;
                if (!known) flag_at[place][lane] = its | unsettled;
            });
    };
    uint32_t counted = 0;
    const auto of_agent = [&](uint32_t agent, bool there, Sums<6>& sums) {
        const uint32_t row = row_of_agent<E, policy>(a, agent);
        const auto place_of_step = [&](uint32_t step) {
            return size_t(a.steps - 1 - step) * rows + row;
        };
        const float last = memory.value[size_t(a.steps) * rows + row];
        Backward back{last, last, 0, 0, waits<E, policy>(view, row)};
        over_chunks(
            a.steps,
            [&](uint32_t step) {
                const size_t at = place_of_step(step);
                return Loaded{memory.reward[at], memory.value[at],
                              packs ? memory.log_probability[at] : 0.0f,
                              traced ? memory.ratio[at] : 1.0f, memory.flag[at]};
            },
            [&](uint32_t place, uint32_t step, const Loaded& loaded) {
                reward_at[place][lane] = scaled_reward(loaded.reward, scale, most);
                value_at[place][lane] = loaded.value;
                final_at[place][lane] =
                    is_cut(loaded.flag) ? memory.final_value[place_of_step(step)] : 0.0f;
                if (traced) ratio_at[place][lane] = loaded.ratio;
                flag_at[place][lane] = loaded.flag;
            },
            [&](uint32_t count) {
                if (traced) follow(back, count, Known<true>{});
                else follow(back, count, Known<false>{});
            },
            [&](uint32_t place, uint32_t step, const Loaded& loaded) {
                if (!there) return;
                const size_t at = place_of_step(step);
                const float advantage = reward_at[place][lane], target = value_at[place][lane];
                const uint8_t flag = flag_at[place][lane];
                if (packs)
                    pack_experience(memory, at,
                                    {loaded.log_probability, loaded.value, advantage, target});
                memory.advantage[at] = advantage;
                memory.target[at] = target;
                if (flag & unsettled) memory.flag[at] = flag;
                if (!counts(flag)) return;
                ++counted;
                const double worth = double(advantage), aim = double(target),
                             error = aim - double(loaded.value);
                sums.at[1] += worth;
                sums.at[2] += worth * worth;
                sums.at[3] += aim;
                sums.at[4] += aim * aim;
                sums.at[5] += error * error;
            });
        sums.at[0] = double(counted);
    };
    if (!over_agents<6>(items, state, of_agent)) return;
    const Sums<6> sums = sum_of<6>(state.slots, agent_blocks(state.agents));
    if (threadIdx.x == 0) settle_advantages(state, sums);
}

}
