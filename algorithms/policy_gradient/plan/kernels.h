#pragma once
#include "algorithms/policy_gradient/plan/kernel_table.h"

#include <nacelle/plugin/host.h>
#include <string>

namespace learn {

// What is compiled, by Program: a Spec for each policy, then the kernels that there are. Empty where there are none. Where
// a draft's rollout has another plan, programs with the author's file have the kernels of both, one or the other by
// NACELLE_DRAFT; what such a draft launches beside them is compiled where drafts run.
using ProgramTexts = std::array<std::string, program_count>;
ProgramTexts program_texts(const Settings& settings, const Plan& plan,
                           const std::optional<Plan>& of_draft = {}, bool drafts_run = true);
// What all of them are compiled with.
std::vector<std::string> program_defines(const Settings& settings);

// The table's kernels as one run has them.
class Kernels final {
public:
    Kernels(nacelle::plugin::Host host, const Settings& settings,
            const std::vector<NetworkShape>& shapes, const nacelle_environment& environment);

    // Looks up what may have changed with a save: which programs are now drafts.
    void look_again();
    const Plan& plan() const { return plan_; }
    // Of rollouts as they go now, which a draft takes step by step.
    Rollout rollout() const { return plan_of(Program::rollout).run.rollout; }
    bool is_drafted(Program program) const { return drafted_[size_t(program)]; }

    // Puts a kernel of a group's or policy's number on the stream; nothing where the plan has no such kernel for it.
    template <class Args>
    void launch(KernelName name, size_t number, const Args& args, void* stream,
                uint64_t count = 0) const {
        const Kernel& row = kernel_table[name.row];
        const std::optional<nacelle_kernel>& found =
            (is_drafted(row.program) ? found_in_draft_ : found_)[name.row][number];
        if (!found) return;
        const nacelle_kernel& kernel = *found;
        if (!kernel.function) missing(row);
        const bool more_memory = row.form == Form::resident_teams && plan_.run.learning_apart;
        if (row.form == Form::environments || row.form == Form::teams ||
            (row.form == Form::resident_teams && !more_memory))
            host_.launch_environments(kernel, args, stream);
        else host_.launch(kernel, shape_of(row, number, count), args, stream);
    }

private:
    // By number: what the plan has.
    using Found = std::array<std::vector<std::optional<nacelle_kernel>>, std::size(kernel_table)>;

    const Plan& plan_of(Program program) const { return is_drafted(program) ? *of_draft_ : plan_; }
    template <class Wanted> Found look_up(const Plan& plan, Wanted&& wanted) const;
    [[noreturn]] static void missing(const Kernel& kernel);
    nacelle_launch shape_of(const Kernel& kernel, size_t number, uint64_t count) const;

    nacelle::plugin::Host host_;
    Plan plan_;
    std::optional<Plan> of_draft_;
    std::array<uint32_t, program_count> programs_{};
    Found found_, found_in_draft_;
    std::array<bool, program_count> drafted_{};
};

}
