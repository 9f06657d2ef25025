#pragma once
#include "algorithms/common/owners.h"

#include <learn/blocked.h>
#include <string_view>

// Every kernel of a policy gradient: whose it is, in which program, where it exists and over how many items. What is
// compiled, looked up and launched all comes from this table.
namespace learn {

// What a kernel is launched with, in which blocks, and whose it is.
enum class Form {
    run,             // Arguments, in blocks of block_threads
    environments,    // the run's, over all environments as the engine has them
    warps,           // the run's, in blocks of rollout_threads
    group,
    policy,
    update,    // a policy's, in blocks of warps that share the memory of a multiprocessor
    stream,    // a policy's, with StreamArguments
    narrow,    // a policy's, with Products: 64 columns a block
    wide,      // the same with 128
};
constexpr bool is_of_run(Form form) { return form <= Form::warps; }

// Programs compile side by side, the longest first. Those of rollouts and of evaluations carry the author's file, the
// others need its sizes alone. A CPU has that of learning in the rest: each costs its compiler the headers anew.
enum class Program { update, rollout, play, rest, learning };
constexpr bool has_author(Program program) {
    return program == Program::rollout || program == Program::play;
}

namespace items {

inline uint64_t one(const Owner&, uint64_t) { return 1; }
inline uint64_t one_block(const Owner&, uint64_t) { return block_threads; }
inline uint64_t environments(const Owner& o, uint64_t) { return for_warps(o.envs); }
inline uint64_t chunks(const Owner& o, uint64_t) {
    return rounded_up(o.steps * o.rows, obs_chunk) * block_threads;
}
inline uint64_t columns(const Owner& o, uint64_t) { return o.width * block_threads; }
inline uint64_t numbers(const Owner& o, uint64_t) { return o.rows * o.width; }
inline uint64_t parameters(const Owner& o, uint64_t) { return o.parameters; }
inline uint64_t agents(const Owner& o, uint64_t) { return o.rows; }
inline uint64_t standing(const Owner& o, uint64_t) { return o.by_rows(o.rows); }
// On tensor cores the rows that were cut short in the step before follow as rows of their own.
inline uint64_t standing_and_cut(const Owner& o, uint64_t) {
    return o.is(on_cpu) ? o.envs : o.by_rows(o.rows * (o.planes ? 2 : 1));
}
inline uint64_t samples(const Owner& o, uint64_t) { return o.by_rows(o.steps * o.rows); }
inline uint64_t samples_and_cut(const Owner& o, uint64_t) {
    return o.by_rows((2 * o.steps + 1) * o.rows);
}
inline uint64_t update(const Owner& o, uint64_t) { return o.update_blocks() * block_threads; }
inline uint64_t fused_update(const Owner& o, uint64_t) { return o.update_blocks() * o.fit.threads; }
inline uint64_t total(const Owner& o, uint64_t) {
    return o.is(on_cpu) ? o.parameters : o.sum_blocks() * block_threads;
}
// Of what a launch counts: samples, rows of a stream, blocks.
inline uint64_t counted(const Owner&, uint64_t samples) { return samples; }
inline uint64_t stream_rows(const Owner&, uint64_t rows) { return whole_blocks(rows); }
inline uint64_t stream_lanes(const Owner& o, uint64_t rows) {
    return whole_blocks(rows) * gather_lanes(o.width);
}
inline uint64_t stream_total(const Owner&, uint64_t blocks) { return blocks * block_threads; }
inline uint64_t products(const Owner&, uint64_t blocks) { return blocks * product_threads; }

}

struct Kernel {
    Form form;
    std::string_view
        name;    // and the function's of device/learn, but for products: forward_64 is forward_product
    Program program;
    uint32_t where;    // all of these facts
    uint64_t (*items)(const Owner& owner, uint64_t count);
};
inline constexpr Kernel kernel_table[] = {
    {Form::run, "enlist", Program::rollout, always, items::one},
    {Form::run, "begin", Program::rest, always, items::one},
    {Form::run, "mark", Program::rest, always, items::one},
    {Form::run, "finish", Program::rest, always, items::one},
    {Form::environments, "rollout_blocks", Program::rollout, in_blocks, items::environments},
    {Form::environments, "step_once", Program::rollout, in_steps, items::environments},
    {Form::warps, "rollout_warps", Program::rollout, in_warps, items::environments},
    {Form::warps, "play_warps", Program::play, in_warps, items::environments},

    {Form::group, "gather_images", Program::rollout, images, items::numbers},
    {Form::group, "measure_observations", Program::rest, always, items::chunks},
    {Form::group, "follow_observations", Program::rest, always, items::columns},

    {Form::policy, "prepare", Program::rest, on_gpu | network, items::parameters},
    {Form::policy, "act", Program::rest, fused, items::standing},
    {Form::policy, "act_randomly", Program::rest, random, items::agents},
    {Form::policy, "choose", Program::rollout, fused | in_steps, items::standing_and_cut},
    {Form::policy, "choose_randomly", Program::rollout, random | in_steps, items::agents},
    {Form::policy, "close_rollout", Program::rollout, fused | learns | not_in_warps,
     items::standing_and_cut},
    {Form::policy, "measure_returns", Program::learning, learns, items::agents},
    {Form::policy, "scale_rewards", Program::learning, learns, items::one_block},
    {Form::policy, "find_advantages", Program::learning, learns, items::agents},
    {Form::policy, "sum_advantages", Program::learning, learns, items::one_block},
    {Form::policy, "measure_minibatch", Program::learning, learns | normalises_minibatches,
     items::counted},
    {Form::policy, "scale_minibatch", Program::learning, learns | normalises_minibatches,
     items::one_block},
    {Form::policy, "find_values", Program::update, on_gpu | fused | learns | separate,
     items::samples_and_cut},
    {Form::policy, "review", Program::update, fused | learns | traced | feedforward,
     items::samples},
    {Form::policy, "review_sequences", Program::update, fused | learns | traced | recurrent,
     items::update},
    {Form::policy, "gradient", Program::update, on_cpu | learns | feedforward, items::update},
    {Form::policy, "gradient_of_sequences", Program::update, on_cpu | learns | recurrent,
     items::update},
    {Form::update, "gradient_warps", Program::update, on_gpu | fused | learns, items::fused_update},
    {Form::policy, "total", Program::learning, fused | learns, items::total},
    {Form::policy, "decide", Program::learning, on_cpu | learns, items::one_block},
    {Form::policy, "adam", Program::learning, learns, items::parameters},

    {Form::stream, "gather_now", Program::rest, streamed, items::stream_lanes},
    {Form::stream, "act_streamed", Program::rest, streamed, items::stream_rows},
    {Form::stream, "gather_step", Program::rollout, streamed, items::stream_lanes},
    {Form::stream, "choose_streamed", Program::rollout, streamed, items::stream_rows},
    {Form::stream, "gather_valued", Program::update, streamed | learns, items::stream_lanes},
    {Form::stream, "mark_valued", Program::update, streamed | learns, items::stream_rows},
    {Form::stream, "keep_values", Program::update, streamed | learns, items::stream_rows},
    {Form::stream, "gather_samples", Program::update, streamed | learns | traced,
     items::stream_lanes},
    {Form::stream, "review_streamed", Program::update, streamed | learns | traced,
     items::stream_rows},
    {Form::stream, "gather_minibatch", Program::update, streamed | learns, items::stream_lanes},
    {Form::stream, "slopes_streamed", Program::update, streamed | learns, items::update},
    {Form::stream, "total_streamed", Program::update, streamed | learns, items::stream_total},
    {Form::narrow, "forward_64", Program::update, narrow_forward, items::products},
    {Form::wide, "forward_128", Program::update, wide_forward, items::products},
    {Form::narrow, "backward_64", Program::update, narrow_backward, items::products},
    {Form::wide, "backward_128", Program::update, wide_backward, items::products},
    {Form::wide, "weights_128", Program::update, streamed | learns, items::products},
};

// A row by its name: one that the table does not have does not compile.
struct KernelName {
    size_t row = 0;
    consteval KernelName(const char* name) {
        while (kernel_table[row].name != name) ++row;
    }
};

}
