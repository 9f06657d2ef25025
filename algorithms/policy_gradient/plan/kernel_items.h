#pragma once
#include "algorithms/policy_gradient/plan/owners.h"

#include <algorithm>
#include <learn/layout/blocked.h>
#include <learn/layout/row_pass.h>
// Over how many items a kernel goes: of its owner, and of what a launch counts, or of all where that is none.

namespace learn {

namespace items {

inline uint64_t one(const Owner&, uint64_t) { return 1; }
inline uint64_t one_block(const Owner&, uint64_t) { return block_threads; }
inline uint64_t shares(const Owner& o, uint64_t) { return o.envs; }
inline uint64_t environments(const Owner& o, uint64_t) { return for_warps(o.envs); }
// A warp for so many of them.
inline uint64_t alone(const Owner& o, uint64_t) {
    return divided_up(o.envs, uint64_t(o.warp_envs)) * 32;
}
inline uint64_t resident(const Owner& o, uint64_t) {
    return divided_up(o.envs, resident_envs) * resident_threads;
}
inline uint64_t resident_teams(const Owner& o, uint64_t) {
    return o.is(learning_apart) ? uint64_t(o.resident_blocks) * o.team_threads : for_warps(o.envs);
}
// So many rows, or those of all agents.
inline uint64_t agents(const Owner& o, uint64_t count) { return count ? count : o.rows; }
inline uint64_t resident_rows(const Owner& o, uint64_t count) {
    return std::min(divided_up(agents(o, count), o.resident_rows), o.resident_blocks) *
           resident_threads;
}
inline uint64_t remembering(const Owner& o, uint64_t) {
    return divided_up(o.envs, remembering_rows) * o.remembering_threads;
}
inline uint64_t chunks(const Owner& o, uint64_t) {
    const ObsCut cut = obs_cut(o.steps * o.rows / o.shards, o.kept_parts, o.is(on_gpu));
    return o.shards * cut.chunks * cut.slabs * block_threads;
}
inline uint64_t columns(const Owner& o, uint64_t) { return o.width * block_threads; }
inline uint64_t numbers(const Owner& o, uint64_t) { return o.rows * o.width; }
inline uint64_t past(const Owner& o, uint64_t) { return std::max(o.parameters, o.members); }
inline uint64_t results(const Owner& o, uint64_t) { return o.members * result_count; }
inline uint64_t opponents(const Owner& o, uint64_t) {
    return divided_up(o.envs, opponents_together);
}
inline uint64_t parameters(const Owner& o, uint64_t) { return o.parameters; }
// Blocks of no two shards.
inline uint64_t in_shards(const Owner& o, uint64_t items) {
    return o.shards * divided_up(items / o.shards, block_threads) * block_threads;
}
inline uint64_t learners(const Owner& o, uint64_t) { return in_shards(o, o.learners); }
inline uint64_t steps_of_agents(const Owner& o, uint64_t) {
    return agent_blocks(o.learners, o.shards) * uint64_t(block_threads);
}
inline uint64_t steps_of_all(const Owner& o, uint64_t) {
    return o.learning_blocks * uint64_t(block_threads);
}
inline uint64_t standing(const Owner& o, uint64_t count) { return o.by_rows(agents(o, count)); }
// On tensor cores the rows that were cut short in the step before follow as rows of their own.
inline uint64_t standing_and_cut(const Owner& o, uint64_t) {
    return o.is(on_cpu) ? o.envs : o.by_rows(o.rows) * (o.planes ? 2 : 1);
}
inline uint64_t choosing(const Owner& o, uint64_t) {
    return o.is(sums_seen) ? o.choosers.count * uint64_t(block_threads) : standing_and_cut(o, 0);
}
inline uint64_t samples(const Owner& o, uint64_t) { return o.by_rows(o.steps * o.learners); }
inline uint64_t samples_and_cut(const Owner& o, uint64_t) {
    return o.by_rows((2 * o.steps + 1) * o.learners);
}
inline uint64_t update(const Owner& o, uint64_t) { return o.update_blocks() * block_threads; }
inline uint64_t row_pass(const Owner& o, uint64_t) { return o.update_blocks() * pass_threads; }
inline uint64_t last_layer(const Owner& o, uint64_t) {
    return o.update_blocks() * last_layer_threads;
}
inline uint64_t last_outputs(const Owner&, uint64_t rows) {
    return divided_up(rows, last_layer_rows) * last_layer_threads;
}
inline uint64_t fused_update(const Owner& o, uint64_t) { return o.update_blocks() * o.fit.threads; }
inline uint64_t total(const Owner& o, uint64_t) {
    return o.is(on_cpu) ? o.parameters : (o.sum_blocks() + 1) * block_threads;
}
// Of what a launch counts: samples, rows of a stream, tasks, blocks.
inline uint64_t counted(const Owner&, uint64_t samples) { return samples; }
inline uint64_t stream_rows(const Owner&, uint64_t rows) { return whole_blocks(rows); }
inline uint64_t stream_lanes(const Owner& o, uint64_t rows) {
    return whole_blocks(rows) * gather_lanes(o.width, o.is(in_pairs));
}
inline uint64_t minibatch_lanes(const Owner& o, uint64_t rows) {
    return stream_lanes(o, rows) / gather_rows(o.width, o.is(in_pairs));
}
// As many blocks as look through all marks, or as have a share of them.
inline uint64_t stream_marked(const Owner& o, uint64_t rows) {
    return std::min<uint64_t>(most_blocks * uint64_t(block_threads), stream_lanes(o, rows));
}
inline uint64_t stream_total(const Owner&, uint64_t blocks) { return (blocks + 1) * block_threads; }
inline uint64_t scaled_total(const Owner& o, uint64_t blocks) {
    return o.is(on_cpu) ? o.parameters : (blocks + 1) * block_threads;
}
inline uint64_t step(const Owner& o, uint64_t) {
    return o.is(on_cpu) ? o.parameters : step_blocks(o.parameters) * uint64_t(block_threads);
}
inline uint64_t layer_tasks(const Owner&, uint64_t tasks) { return tasks * block_threads; }
inline uint64_t gru_64(const Owner&, uint64_t sequences) {
    return sequences / gru_sequences * gru_threads(64);
}
inline uint64_t gru_128(const Owner&, uint64_t sequences) {
    return sequences / gru_sequences * gru_threads(128);
}
inline uint64_t products(const Owner&, uint64_t blocks) { return blocks * product_threads; }
inline uint64_t clusters(const Owner& o, uint64_t blocks) {
    return blocks * o.threads_of_cluster();
}
inline uint64_t convolved(const Owner& o, uint64_t rows) {
    return whole_blocks(rows) / uint64_t(o.conv_forward.samples) * conv_threads;
}
inline uint64_t convolved_back(const Owner& o, uint64_t rows) {
    return whole_blocks(rows) / uint64_t(o.conv_backward.samples) * conv_threads;
}
inline uint64_t conv_sums(const Owner&, uint64_t blocks) { return blocks * conv_threads; }

}

}
