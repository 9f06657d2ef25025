#pragma once
#include <learn/formulas/returns.h>
// The same passes by blocks of a GPU. A block has 32 agents at a time, lane by lane, so that a step is read as a whole,
// and four warps, which share the steps of a chunk: each reads its own into registers while the chunk before is
// followed, and writes and adds up what came of it. One step after the other goes the first warp alone, through what
// lies in shared memory.

namespace learn {

inline constexpr uint32_t chunk_steps = 16, sharing_warps = block_threads / agents_together,
                          own_steps = chunk_steps / sharing_warps, steps_ahead = 4;
template <class T> using ChunkOf = T[chunk_steps][agents_together];
template <bool is> struct Known { static constexpr bool value = is; };

// What is read of a chunk's steps, of any policy. Returns or advantages are then written over the rewards, targets over the
// values.
struct ChunkSteps {
    ChunkOf<float> reward, value, final_value, ratio;
    ChunkOf<uint8_t> flag;
};
NACELLE_INLINE ChunkSteps& chunk_of_block() {
    __shared__ ChunkSteps chunk;
    return chunk;
}

// What a thread reads of a step, and where that lies.
struct StepOf {
    uint32_t at;
    float reward, value, log_probability, ratio;
    uint8_t flag;
};
// A block's agents, all of one shard, and of those the steps, a chunk after the other. load(row, step) for each step; start(row) once for
// 32 agents, on the lanes that follow them; put(place in the chunk, step); follow(steps in the chunk) by one warp, and then
// use(place, step). What is loaded is on its way while the chunk before is at work.
template <class E, int policy, int count, class Start, class Load, class Begin, class Put,
          class Follow, class Use>
NACELLE_INLINE bool over_steps(const Arguments& a, Items items, Sums<count>& sums, Start&& start,
                               Load&& load, Begin&& begin, Put&& put, Follow&& follow, Use&& use) {
    const PolicyState& state = a.policy[policy];
    const uint32_t count_of_all = learners<policy>(state), steps = a.steps,
                   block = uint32_t(items.begin / block_threads);
    const ShardBlocks cut(count_of_all, agent_blocks(count_of_all / shards));
    const uint32_t begin_of_shard = cut.shard_of(block) * cut.items,
                   all = begin_of_shard + cut.items, blocks = cut.blocks,
                   lane = threadIdx.x % agents_together, warp = threadIdx.x / agents_together;
    StepOf next[own_steps];
    float next_start = 0;
    uint32_t row = 0, its_row = 0;
    const auto each_own = [&](uint32_t first, auto&& fn) {
        NACELLE_UNROLL for (uint32_t k = 0; k < own_steps; ++k) {
            const uint32_t place = warp + k * sharing_warps;
            if (first + place < steps) fn(k, place);
        }
    };
    const auto load_chunk = [&](uint32_t agents, uint32_t first) {
        if (agents >= all) return;
        if (first == 0) {
            row = learner_row<E, policy>(a, min(agents + lane, all - 1));
            next_start = start(row);
        }
        each_own(first, [&](uint32_t k, uint32_t place) { next[k] = load(row, first + place); });
    };
    uint32_t agents = begin_of_shard + cut.own(block) * agents_together, first = 0;
    load_chunk(agents, first);
    while (agents < all) {
        StepOf now[own_steps];
        NACELLE_UNROLL for (uint32_t k = 0; k < own_steps; ++k) now[k] = next[k];
        const bool there = agents + lane < all;
        if (first == 0) {
            its_row = row;
            if (warp == 0) begin(row, next_start);
        }
        put(now, [&](auto&& fn) { each_own(first, fn); });
        const uint32_t chunk = min(steps - first, chunk_steps);
        const bool ends = first + chunk_steps >= steps;
        first = ends ? 0 : first + chunk_steps;
        const uint32_t these = ends ? agents + blocks * agents_together : agents;
        load_chunk(these, first);
        __syncthreads();
        if (warp == 0) follow(chunk, its_row, ends && there);
        __syncthreads();
        NACELLE_UNROLL for (uint32_t k = 0; k < own_steps; ++k) {
            const uint32_t place = warp + k * sharing_warps;
            if (there && place < chunk) use(place, now[k]);
        }
        agents = these;
    }
    store_sums<count>(sums, state.slots + size_t(block) * count);
    return arrives_last(state.arrived, blocks * shards);
}
// fn(place, which of those that were read, whether there is a step) for the places of a chunk; read(place, which) for some
// of them ahead.
template <class Read, class Fn>
NACELLE_INLINE void one_by_one(uint32_t count, Read&& read, Fn&& fn) {
    NACELLE_ROLLED for (uint32_t first = 0; first < count; first += steps_ahead) {
        NACELLE_UNROLL for (uint32_t k = 0; k < steps_ahead; ++k) read(first + k, k);
        NACELLE_UNROLL for (uint32_t k = 0; k < steps_ahead; ++k)
            fn(first + k, k, first + k < count);
    }
}
// What the blocks of all agents have left.
template <int policy, int count>
NACELLE_INLINE Sums<count> sum_of_agents(const PolicyState& state) {
    return sum_of_shards<count>(state.slots, agent_blocks(learners<policy>(state) / shards));
}

// The discounted return of each agent goes on from iteration to iteration; its spread scales rewards.
template <class E, int policy>
NACELLE_INLINE void measure_own_returns(const View<E>& view, const Arguments& a, Items items) {
    ChunkSteps& chunk = chunk_of_block();
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const uint32_t rows = group_rows<E, policy>(view), lane = threadIdx.x % agents_together;
    const float discount = state.dials[gamma];
    const double shift = state.carried[return_mean];
    float running = 0;
    Sums<2> sums;
    const bool last = over_steps<E, policy>(
        a, items, sums, [&](uint32_t row) { return memory.running[row]; },
        [&](uint32_t row, uint32_t step) {
            const uint32_t at = step * rows + row;
            return StepOf{at, memory.reward[at], 0, 0, 0, memory.flag[at]};
        },
        [&](uint32_t, float before) { running = before; },
        [&](const StepOf(&now)[own_steps], auto&& each_own) {
            each_own([&](uint32_t k, uint32_t place) {
                chunk.reward[place][lane] = now[k].reward;
                chunk.flag[place][lane] = now[k].flag & (terminated | truncated);
            });
        },
        [&](uint32_t count, uint32_t row, bool keeps) {
            float reward[steps_ahead];
            uint8_t ends[steps_ahead];
            one_by_one(
                count,
                [&](uint32_t place, uint32_t k) {
                    reward[k] = chunk.reward[place][lane];
                    ends[k] = chunk.flag[place][lane];
                },
                [&](uint32_t place, uint32_t k, bool there) {
                    const float here = fused(running, discount, reward[k]);
                    chunk.reward[place][lane] = here;
                    running = !there ? running : ends[k] ? 0.0f : here;
                });
            if (keeps) memory.running[row] = running;
        },
        [&](uint32_t place, const StepOf&) {
            const double off = double(chunk.reward[place][lane]) - shift;
            sums.at[0] += off;
            sums.at[1] += off * off;
        });
    if (!last) return;
    const Sums<2> all = statistics_of_all(a, policy, sum_of_agents<policy, 2>(state));
    if (threadIdx.x == 0) end_returns<policy>(a, state, all);
}

template <class E, int policy>
NACELLE_INLINE void find_own_advantages(const View<E>& view, const Arguments& a, Items items) {
    ChunkSteps& chunk = chunk_of_block();
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;    // nor was anything reviewed
    const Memory& memory = a.memory[Spec<policy>::group];
    const uint32_t rows = group_rows<E, policy>(view), lane = threadIdx.x % agents_together,
                   last_step = a.steps - 1;
    const float scale = float(state.found[reward_scale]), most = state.most_reward;
    const bool traced = memory.ratio != nullptr, moved = traced && a.epoch > 0,
               packs = memory.experience != nullptr;
    float dials[dial_count];
    NACELLE_UNROLL for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    Backward back{};
    // What is known when this compiles is not looked at step by step.
    const auto follow = [&](uint32_t count, auto known_traced) {
        constexpr bool is_traced = decltype(known_traced)::value;
        float reward[steps_ahead], value[steps_ahead], end[steps_ahead], ratio[steps_ahead];
        uint8_t flag[steps_ahead];
        one_by_one(
            count,
            [&](uint32_t place, uint32_t k) {
                reward[k] = chunk.reward[place][lane];
                value[k] = chunk.value[place][lane];
                end[k] = chunk.final_value[place][lane];
                ratio[k] = is_traced ? chunk.ratio[place][lane] : 1.0f;
                flag[k] = chunk.flag[place][lane];
            },
            [&](uint32_t place, uint32_t k, bool) {    // nothing follows the last one
                const uint8_t its = has_turn<E, GroupOf<E, policy>> ? flag[k] : flag[k] | acted;
                float advantage, target;
                const bool known = step_back(back, reward[k], its, value[k], end[k], ratio[k],
                                             dials, is_traced, advantage, target);
                chunk.reward[place][lane] = advantage;
                chunk.value[place][lane] = target;
                if (!known) chunk.flag[place][lane] = its | unsettled;
            });
    };
    uint32_t counted = 0;
    Sums<6> sums;
    const bool last = over_steps<E, policy>(
        a, items, sums, [&](uint32_t row) { return memory.value[a.steps * rows + row]; },
        [&](uint32_t row, uint32_t step) {
            const uint32_t at = (last_step - step) * rows + row;
            return StepOf{at,
                          memory.reward[at],
                          memory.value[at],
                          packs ? memory.log_probability[at] : 0.0f,
                          moved ? memory.ratio[at] : 1.0f,
                          memory.flag[at]};
        },
        [&](uint32_t row, float value) {
            back = {value, value, 0, 0, waits<E, policy>(view, row)};
        },
        [&](const StepOf(&now)[own_steps], auto&& each_own) {
            float end[own_steps];
            each_own([&](uint32_t k, uint32_t) {
                end[k] = is_cut(now[k].flag) ? memory.final_value[now[k].at] : 0.0f;
            });
            each_own([&](uint32_t k, uint32_t place) {
                chunk.reward[place][lane] = scaled_reward(now[k].reward, scale, most);
                chunk.value[place][lane] = now[k].value;
                if (traced) chunk.ratio[place][lane] = now[k].ratio;
                chunk.flag[place][lane] = now[k].flag;
                chunk.final_value[place][lane] = end[k];
            });
        },
        [&](uint32_t count, uint32_t, bool) {
            if (traced) follow(count, Known<true>{});
            else follow(count, Known<false>{});
        },
        [&](uint32_t place, const StepOf& step) {
            const float advantage = chunk.reward[place][lane], target = chunk.value[place][lane];
            if (packs)
                pack_experience(memory, step.at,
                                {step.log_probability, step.value, advantage, target});
            memory.advantage[step.at] = advantage;
            memory.target[step.at] = target;
            if constexpr (has_turn<E, GroupOf<E, policy>>) {
                const uint8_t flag = chunk.flag[place][lane];
                if (flag & unsettled) memory.flag[step.at] = flag;
                if (!counts(flag)) return;
            }
            ++counted;
            const double worth = double(advantage), aim = double(target),
                         error = aim - double(step.value);
            sums.at[0] = double(counted);
            sums.at[1] += worth;
            sums.at[2] += worth * worth;
            sums.at[3] += aim;
            sums.at[4] += aim * aim;
            sums.at[5] += error * error;
        });
    if (!last) return;
    const Sums<6> all = statistics_of_all(a, policy, sum_of_agents<policy, 6>(state));
    if (threadIdx.x == 0) end_advantages<policy>(a, state, all);
}

// fn.template operator()<policy>(items) for the policy whose block this is: those that learn have blocks one behind the
// other, so that small ones are at work beside large ones.
template <class E, class Fn>
NACELLE_INLINE void for_own_policy(const Arguments& a, Items items, Fn&& fn) {
    uint64_t first = 0;
    for_each_policy<E>([&]<int policy>() {
        if constexpr (Spec<policy>::kind == Kind::trained) {
            const uint64_t end = first + agent_blocks(learners<policy>(a.policy[policy]), shards) *
                                             uint64_t(block_threads);
            if (items.begin >= first && items.begin < end)
                fn.template operator()<policy>(Items{items.begin - first, items.end - first});
            first = end;
        }
    });
}
template <class E>
NACELLE_INLINE void measure_all_returns(const View<E>& view, const Arguments& a, Items items) {
    for_own_policy<E>(a, items, [&]<int p>(Items its) { measure_own_returns<E, p>(view, a, its); });
}
template <class E>
NACELLE_INLINE void find_all_advantages(const View<E>& view, const Arguments& a, Items items) {
    for_own_policy<E>(a, items, [&]<int p>(Items its) { find_own_advantages<E, p>(view, a, its); });
}

}
