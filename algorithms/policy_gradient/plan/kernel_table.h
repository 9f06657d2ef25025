#pragma once
#include "algorithms/policy_gradient/plan/conditions.h"
#include "algorithms/policy_gradient/plan/kernel_items.h"

#include <string_view>

// Every kernel of a policy gradient: whose it is, in which program, where it exists and over how many items. What is
// compiled, looked up and launched all comes from this table.
namespace learn {

// What a kernel is launched with, in which blocks, and whose it is.
enum class Form {
    run,             // Arguments, in blocks of block_threads
    environments,    // the run's, over all environments as the engine has them
    shares,    // the run's, over environments of which a CPU's thread takes a share through all steps
    teams,             // the same for teams whose warps choose, too
    warps,             // the run's, in blocks of rollout_threads, a warp for some environments
    remembering,       // the run's, in blocks that keep what 32 rows remember
    resident,          // the run's, in blocks that keep a network's weights
    resident_teams,    // the run's, over all teams, in blocks with room for networks
    group,
    policy,
    choosers,        // a policy's, whose blocks stay where they add up what is seen
    residents,       // a policy's, in blocks that keep its network's weights
    fused_update,    // a policy's, in blocks as large as its layout says
    stream,          // a policy's, with StreamArguments
    pass,            // with PassArguments, in blocks of a row pass
    cell,            // the same with CellArguments
    cell_64,         // the same in blocks with a warp for each 8 of 64 neurons
    cell_128,
    layer,           // a policy's, with LayerArguments
    narrow,          // a policy's, with Products: 64 columns a block
    wide,            // the same with 128
    clusters,        // the same by clusters of blocks
    last_layer,      // a policy's, with LastLayerArguments
    conv_forward,    // a convolution's, with ConvPass; each way has blocks of its own
    conv_backward,
    conv_weights,
};
constexpr bool is_of_run(Form form) { return form <= Form::resident_teams; }
constexpr bool is_of_convolution(Form form) { return form >= Form::conv_forward; }

// Programs compile side by side, the longest first. Those of rollouts and of evaluations carry the author's file, the
// others need its sizes alone: choices that a rollout launches for each step are in `steps`. A CPU has fewer: each costs its
// compiler the headers once more.
enum class Program { update, rollout, play, rest, learning, steps };
inline constexpr size_t program_count = size_t(Program::steps) + 1;
constexpr bool has_author(Program program) {
    return program == Program::rollout || program == Program::play;
}

struct Kernel {
    Form form;
    // The function in device/learn has the same name, without a number at the end: forward_64 is forward_product of 64
    // columns.
    std::string_view name;
    Program program;
    Where where;
    uint64_t (*items)(const Place& place, uint64_t count);
    uint32_t resident = 1;    // blocks of block_threads that a multiprocessor has at once, at least
};
namespace rows {

using namespace conditions;
using enum Form;
using enum Program;
inline constexpr Kernel kernel_table[] = {
    {run, "enlist", rollout, {}, items::one},
    {run, "begin", rest, {}, items::one_block},
    {run, "mark", rest, {}, items::one},
    {run, "measure_all_returns", learning, {on_gpu, learns}, items::steps_of_all, 8},
    {run, "find_all_advantages", learning, {on_gpu, learns}, items::steps_of_all, 5},
    {run, "finish", rest, {}, items::one},
    {shares, "rollout_blocks", rollout, {in_blocks}, items::shares},
    {environments, "step_once", rollout, {in_steps}, items::environments},
    {teams, "rollout_teams", rollout, {in_teams}, items::environments},
    {resident_teams, "rollout_resident_teams", rollout, {in_team_residence}, items::resident_teams},
    {warps, "rollout_warps", rollout, {in_warps}, items::alone},
    {warps, "play_warps", play, {in_warps}, items::alone},
    {environments, "play_once", play, {drafted}, items::environments},
    {resident, "rollout_resident", rollout, {in_residence}, items::resident},
    {resident, "play_resident", play, {in_residence}, items::resident},
    {remembering, "rollout_remembering", rollout, {in_memory}, items::remembering},

    {group, "gather_images", rollout, {images}, items::numbers},
    {group, "begin_overviews", rollout, {overviews}, items::numbers},
    {group, "measure_observations", rest, {measured}, items::chunks, 6},
    {group, "sum_observations", rest, {hands_over}, items::columns},
    {group, "follow_observations", rest, {}, items::columns},

    {policy, "prepare", rest, {on_gpu, network}, items::parameters},
    {policy, "rate_past", rest, {against_past}, items::one_block},
    {policy, "keep_past", rest, {against_past}, items::past},
    {policy, "prepare_past", rest, {on_gpu, against_past}, items::parameters},
    {policy, "draw_past", rest, {against_past}, items::opponents},
    {policy, "hand_over_results", rest, {against_past, among_ranks}, items::results},
    {policy, "take_results", rest, {against_past, among_ranks}, items::results},
    {policy, "act", rest, {fused, acts}, items::standing},
    {policy, "act_randomly", rest, {random}, items::agents},
    {choosers, "choose", steps, {fused, in_steps, acts}, items::choosing},
    {policy, "choose_randomly", steps, {random, in_steps}, items::agents},
    {policy, "close_rollout", steps, {fused, learns, closes_apart, acts}, items::standing_and_cut},
    {residents, "act_resident", rest, {resides, acts}, items::resident_rows},
    {residents, "choose_resident", steps, {resides, in_steps, acts}, items::resident_rows},
    {residents, "values_resident", update, {resides, learns}, items::resident_rows},
    {policy, "measure_returns", learning, {on_cpu, learns, acts}, items::learners},
    {policy, "scale_rewards", learning, {on_cpu, learns, acts}, items::one_block},
    {policy, "scale_rewards_alike", learning, {learns, hands_over, acts}, items::one_block},
    {policy, "find_advantages", learning, {on_cpu, learns, acts}, items::learners},
    {policy,
     "find_own_advantages",
     learning,
     {on_gpu, learns, traced, acts},
     items::steps_of_agents,
     5},
    {policy, "sum_advantages", learning, {on_cpu, learns, acts}, items::one_block},
    {policy, "scale_advantages_alike", learning, {learns, hands_over, acts}, items::one_block},
    {policy, "measure_minibatch", learning, {learns, scales_minibatches, acts}, items::in_shards},
    {policy, "scale_minibatch", learning, {learns, scales_minibatches, acts}, items::one_block},
    {policy,
     "scale_minibatch_alike",
     learning,
     {learns, scales_minibatches, hands_over, acts},
     items::one_block},
    {policy, "find_values", update, {on_gpu, fused, learns, separate}, items::samples_and_cut},
    {policy, "find_own_values", update, {on_cpu, values_alone, learns}, items::samples_and_cut},
    {policy,
     "review",
     update,
     {fused, learns, traced, feedforward, not_layered, acts},
     items::samples},
    {policy, "review_sequences", update, {fused, learns, traced, recurrent, acts}, items::update},
    {policy,
     "gradient",
     update,
     {on_cpu, learns, network, feedforward, not_layered},
     items::update},
    {policy, "gradient_of_sequences", update, {on_cpu, learns, network, recurrent}, items::update},
    {fused_update, "gradient_warps", update, {on_gpu, fused, learns}, items::fused_update},
    {policy, "total", learning, {fused, learns}, items::total},
    {policy, "scale_total", learning, {learns, network, hands_over_gradient}, items::scaled_total},
    {policy, "decide", learning, {on_cpu, learns, network}, items::one_block},
    {policy, "adam", learning, {learns, network}, items::step},

    {policy, "see_now", rest, {external, acts}, items::numbers},
    {policy, "see_step", rollout, {external, in_steps, acts}, items::numbers},
    {policy, "recall", rest, {external, recurrent, acts}, items::agents},
    {policy, "choose_external", steps, {external, in_steps, acts}, items::agents},
    {policy, "act_external", rest, {external, acts}, items::agents},
    {policy, "number_minibatch", learning, {external, learns}, items::counted},
    {policy, "place_samples", rollout, {external, learns}, items::counted},

    {stream, "gather_now", rest, {streamed, acts}, items::stream_lanes},
    {stream, "act_streamed", rest, {streamed, acts}, items::stream_rows},
    {stream, "gather_step", steps, {streamed, feedforward, in_steps, acts}, items::minibatch_lanes},
    {stream, "choose_streamed", steps, {streamed, feedforward, in_steps, acts}, items::stream_rows},
    {stream, "gather_valued", update, {streamed, learns, feedforward}, items::stream_lanes},
    {stream, "gather_marked", update, {streamed, learns, feedforward}, items::stream_marked},
    {stream, "mark_valued", update, {streamed, learns, feedforward}, items::stream_rows},
    {stream, "keep_values", update, {streamed, learns, feedforward}, items::stream_rows},
    {stream,
     "gather_samples",
     update,
     {streamed, learns, traced, feedforward, acts},
     items::stream_lanes},
    {stream,
     "review_streamed",
     update,
     {streamed, learns, traced, feedforward, acts},
     items::stream_rows},
    {stream, "gather_minibatch", update, {streamed, learns, feedforward}, items::minibatch_lanes},
    {stream, "slopes_streamed", update, {streamed, learns, last_apart, by_layers}, items::update},
    {last_layer, "last_layer", update, {streamed, learns, last_at_once}, items::last_layer},
    {pass, "row_pass", update, {row_passed, learns}, items::row_pass},
    {pass, "row_forward", update, {row_passed, learns, acts}, items::row_pass},
    {stream, "total_streamed", update, {streamed, learns}, items::stream_total},
    {last_layer, "last_outputs", update, {streamed, last_at_once}, items::last_outputs},
    {narrow, "forward_64", update, {forward_in_64}, items::products},
    {wide, "forward_128", update, {forward_in_128}, items::products},
    {narrow, "backward_64", update, {back_in_64}, items::products},
    {wide, "backward_128", update, {back_in_128}, items::products},
    {wide, "weights_128", update, {streamed, learns}, items::products},
    {clusters, "forward_clusters", update, {streamed, in_clusters}, items::clusters},
    {clusters, "backward_clusters", update, {streamed, in_clusters, learns}, items::clusters},
    {clusters, "weights_clusters", update, {streamed, in_clusters, learns}, items::clusters},
    {clusters, "first_gradient", update, {streamed, learns, first_at_once}, items::clusters},
    {conv_forward, "conv_forward", update, {streamed}, items::convolved},
    {conv_backward,
     "conv_backward",
     update,
     {streamed, learns, behind_another},
     items::convolved_back},
    {conv_weights, "conv_weights", update, {streamed, learns}, items::conv_sums},

    {stream, "mark_step", steps, {in_steps, streamed, recurrent, learns}, items::stream_rows},
    {stream, "keep_begun", steps, {in_steps, streamed, recurrent, learns}, items::counted},
    {stream, "gather_remembering", steps, {in_steps, streamed, recurrent}, items::stream_lanes},
    {stream, "choose_remembering", steps, {in_steps, streamed, recurrent}, items::stream_rows},
    {stream,
     "keep_last_values",
     steps,
     {in_steps, streamed, recurrent, learns},
     items::stream_rows},
    {cell, "mingru_once", rest, {streamed, recurrent}, items::counted},
    {cell, "gru_begin_once", rest, {streamed, recurrent}, items::counted},
    {cell, "gru_once", rest, {streamed, recurrent}, items::counted},
    {stream, "gather_sequences", update, {streamed, recurrent, learns}, items::stream_lanes},
    {stream,
     "review_remembering",
     update,
     {streamed, recurrent, learns, traced},
     items::stream_rows},
    {cell, "mingru_forward", update, {streamed, recurrent, learns}, items::counted},
    {cell, "mingru_backward", update, {streamed, recurrent, learns}, items::counted},
    {cell_64, "gru_ahead_64", update, {gru_in_64}, items::gru_64},
    {cell_128, "gru_ahead_128", update, {gru_in_128}, items::gru_128},
    {cell_64, "gru_back_64", update, {gru_in_64}, items::gru_64},
    {cell_128, "gru_back_128", update, {gru_in_128}, items::gru_128},
    {cell, "gru_begin", update, {gru_in_steps}, items::counted},
    {cell, "gru_forward", update, {gru_in_steps}, items::counted},
    {cell, "gru_backward", update, {gru_in_steps}, items::counted},

    {layer, "see_rows", update, {layered, learns}, items::layer_tasks},
    {layer, "forward_layer", update, {layered, learns}, items::layer_tasks},
    {layer, "backward_layer", update, {layered, learns}, items::layer_tasks},
    {layer, "layer_gradient", update, {layered, learns}, items::layer_tasks},
    {layer, "find_slopes", update, {layered, learns}, items::update},
    {layer, "review_rows", update, {layered, learns, traced, acts}, items::counted},
};

}
using rows::kernel_table;

// A row by its name: one that the table does not have does not compile.
struct KernelName {
    size_t row = 0;
    consteval KernelName(const char* name) {
        while (kernel_table[row].name != name) ++row;
    }
};

// The kernel of all steps, or, in Rollout::steps, the author's kernel of one step.
constexpr KernelName rollout_kernel(Rollout rollout) {
    switch (rollout) {
        case Rollout::steps: return "step_once";
        case Rollout::blocks: return "rollout_blocks";
        case Rollout::warps: return "rollout_warps";
        case Rollout::teams: return "rollout_teams";
        case Rollout::remembering: return "rollout_remembering";
        case Rollout::resident: return "rollout_resident";
        case Rollout::resident_teams: break;
    }
    return "rollout_resident_teams";
}

}
