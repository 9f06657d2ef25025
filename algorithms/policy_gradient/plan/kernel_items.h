#pragma once
#include "algorithms/policy_gradient/plan/plan.h"

#include <algorithm>
#include <learn/layout/blocked.h>
#include <learn/layout/row_pass.h>
// The number of items of a launch, from the plan of the kernel's owner and the count that the launch gives, 0 for all.

namespace learn {

namespace items {

inline uint64_t one(const Place&, uint64_t) { return 1; }
inline uint64_t one_block(const Place&, uint64_t) { return block_threads; }
inline uint64_t shares(const Place& o, uint64_t) { return o.run.envs; }
inline uint64_t environments(const Place& o, uint64_t) { return for_warps(o.run.envs); }
// A warp for so many of them.
inline uint64_t alone(const Place& o, uint64_t) {
    return divided_up(o.run.envs, uint64_t(o.run.warp_envs)) * 32;
}
inline uint64_t resident(const Place& o, uint64_t) {
    return divided_up(o.run.envs, resident_envs) * resident_threads;
}
inline uint64_t resident_teams(const Place& o, uint64_t) {
    return o.run.learning_apart ? o.run.team_blocks * o.run.threads : for_warps(o.run.envs);
}
// So many rows, or those of all agents.
inline uint64_t agents(const Place& o, uint64_t count) { return count ? count : o.policy->rows; }
inline uint64_t resident_rows(const Place& o, uint64_t count) {
    return std::min(divided_up(agents(o, count), o.policy->resident_rows),
                    o.policy->resident_blocks) *
           resident_threads;
}
inline uint64_t remembering(const Place& o, uint64_t) {
    return divided_up(o.run.envs, remembering_rows) * o.run.threads;
}
inline uint64_t chunks(const Place& o, uint64_t) {
    const ObsCut cut =
        obs_cut(o.run.steps * o.group->rows / o.run.shards, o.group->kept_parts, o.run.on_gpu);
    return o.run.shards * cut.chunks * cut.slabs * block_threads;
}
inline uint64_t columns(const Place& o, uint64_t) { return o.group->width * block_threads; }
inline uint64_t numbers(const Place& o, uint64_t) {
    return o.policy ? o.policy->rows * o.policy->width : o.group->rows * o.group->width;
}
inline uint64_t past(const Place& o, uint64_t) {
    return std::max(o.policy->parameters, o.policy->members);
}
inline uint64_t results(const Place& o, uint64_t) { return o.policy->members * result_count; }
inline uint64_t opponents(const Place& o, uint64_t) {
    return divided_up(o.run.envs, opponents_together);
}
inline uint64_t parameters(const Place& o, uint64_t) { return o.policy->parameters; }
// Blocks of no two shards.
inline uint64_t in_shards(const Place& o, uint64_t items) {
    return o.run.shards * divided_up(items / o.run.shards, block_threads) * block_threads;
}
inline uint64_t learners(const Place& o, uint64_t) { return in_shards(o, o.policy->learners); }
inline uint64_t steps_of_agents(const Place& o, uint64_t) {
    return agent_blocks(o.policy->learners, o.run.shards) * uint64_t(block_threads);
}
inline uint64_t steps_of_all(const Place& o, uint64_t) {
    return o.run.learning_blocks * uint64_t(block_threads);
}
inline uint64_t standing(const Place& o, uint64_t count) {
    return o.policy->by_rows(agents(o, count));
}
// On tensor cores the rows that were cut short in the step before follow as rows of their own.
inline uint64_t standing_and_cut(const Place& o, uint64_t) {
    return o.run.on_gpu ? o.policy->by_rows(o.policy->rows) * (o.policy->planes ? 2 : 1)
                        : o.run.envs;
}
inline uint64_t choosing(const Place& o, uint64_t) {
    return o.policy->sums_seen() ? o.policy->choosers.count * uint64_t(block_threads)
                                 : standing_and_cut(o, 0);
}
inline uint64_t samples(const Place& o, uint64_t) {
    return o.policy->by_rows(o.run.steps * o.policy->learners);
}
inline uint64_t samples_and_cut(const Place& o, uint64_t) {
    return o.policy->by_rows((2 * o.run.steps + 1) * o.policy->learners);
}
// A GPU's blocks of an update take one of its networks each.
inline uint64_t update_blocks(const Place& o) {
    return uint64_t(o.policy->parts) * (o.run.on_gpu ? o.policy->networks : 1);
}
inline uint64_t update(const Place& o, uint64_t) { return update_blocks(o) * block_threads; }
inline uint64_t row_pass(const Place& o, uint64_t) { return update_blocks(o) * pass_threads; }
inline uint64_t last_layer(const Place& o, uint64_t) {
    return update_blocks(o) * last_layer_threads;
}
inline uint64_t last_outputs(const Place&, uint64_t rows) {
    return divided_up(rows, last_layer_rows) * last_layer_threads;
}
inline uint64_t fused_update(const Place& o, uint64_t) {
    return update_blocks(o) * o.policy->fit.threads;
}
inline uint64_t total(const Place& o, uint64_t) {
    return o.run.on_gpu ? (o.policy->sum_blocks() + 1) * block_threads : o.policy->parameters;
}
// Of what a launch counts: samples, rows of a stream, tasks, blocks.
inline uint64_t counted(const Place&, uint64_t samples) { return samples; }
inline uint64_t stream_rows(const Place&, uint64_t rows) { return whole_blocks(rows); }
inline uint64_t stream_lanes(const Place& o, uint64_t rows) {
    return whole_blocks(rows) * gather_lanes(o.policy->width, o.run.keeps_pairs);
}
inline uint64_t minibatch_lanes(const Place& o, uint64_t rows) {
    return stream_lanes(o, rows) / gather_rows(o.policy->width, o.run.keeps_pairs);
}
// As many blocks as look through all marks, or as have a share of them.
inline uint64_t stream_marked(const Place& o, uint64_t rows) {
    return std::min<uint64_t>(most_blocks * uint64_t(block_threads), stream_lanes(o, rows));
}
inline uint64_t stream_total(const Place&, uint64_t blocks) { return (blocks + 1) * block_threads; }
inline uint64_t scaled_total(const Place& o, uint64_t blocks) {
    return o.run.on_gpu ? (blocks + 1) * block_threads : o.policy->parameters;
}
inline uint64_t step(const Place& o, uint64_t) {
    return o.run.on_gpu ? step_blocks(o.policy->parameters) * uint64_t(block_threads)
                        : o.policy->parameters;
}
inline uint64_t layer_tasks(const Place&, uint64_t tasks) { return tasks * block_threads; }
inline uint64_t gru_64(const Place&, uint64_t sequences) {
    return sequences / gru_sequences * gru_threads(64);
}
inline uint64_t gru_128(const Place&, uint64_t sequences) {
    return sequences / gru_sequences * gru_threads(128);
}
inline uint64_t products(const Place&, uint64_t blocks) { return blocks * product_threads; }
inline uint64_t clusters(const Place& o, uint64_t blocks) {
    return blocks * cluster_threads(o.run.learning_apart);
}
inline uint64_t convolved(const Place& o, uint64_t rows) {
    return whole_blocks(rows) / uint64_t(o.convolution->forward.samples) * conv_threads;
}
inline uint64_t convolved_back(const Place& o, uint64_t rows) {
    return whole_blocks(rows) / uint64_t(o.convolution->backward.samples) * conv_threads;
}
inline uint64_t conv_sums(const Place&, uint64_t blocks) { return blocks * conv_threads; }

}

}
