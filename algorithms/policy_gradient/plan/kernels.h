#pragma once
#include "algorithms/policy_gradient/plan/kernel_table.h"

#include <nacelle/plugin/host.h>
#include <string>

namespace learn {

// What is compiled, by Program: a Spec for each policy, then the kernels that there are. Empty where there are none. Where
// a draft's rollout has other owners, programs with the author's file have the kernels of both, one or the other by
// NACELLE_DRAFT; what such a draft launches beside them is compiled where drafts run.
using ProgramTexts = std::array<std::string, program_count>;
ProgramTexts program_texts(const Settings& settings, const Owners& owners,
                           const std::optional<Owners>& of_draft = {}, bool drafts_run = true);
// What all of them are compiled with.
std::vector<std::string> program_defines(const Settings& settings);

// The table's kernels as one run has them.
class Kernels final {
public:
    Kernels(nacelle::plugin::Host host, const Settings& settings,
            const std::vector<NetworkShape>& shapes, const nacelle_environment& environment);

    // Looks up what may have changed with a save: which programs are now drafts.
    void look_again();
    const Owner& run() const { return owners_.run[0]; }
    // How rollouts go.
    const Owner& rollouts() const {
        return (is_drafted(Program::rollout) ? *of_draft_ : owners_).run[0];
    }
    bool is_drafted(Program program) const { return drafted_[size_t(program)]; }
    const std::vector<Owner>& groups() const { return owners_.groups; }
    const std::vector<Owner>& policies() const { return owners_.policies; }

    // Puts a kernel of a group's or policy's number on the stream; nothing where this one has no such kernel.
    template <class Args>
    void launch(KernelName name, size_t number, const Args& args, void* stream,
                uint64_t count = 0) const {
        const Kernel& row = kernel_table[name.row];
        const nacelle_kernel& kernel =
            (is_drafted(row.program) ? found_in_draft_ : found_)[name.row][number];
        if (!kernel.function) return;
        const bool more_memory = row.form == Form::resident_teams && run().is(learning_apart);
        if (row.form == Form::environments || row.form == Form::teams ||
            (row.form == Form::resident_teams && !more_memory))
            host_.launch_environments(kernel, args, stream);
        else host_.launch(kernel, shape_of(row, number, count), args, stream);
    }

private:
    using Found = std::array<std::vector<nacelle_kernel>, std::size(kernel_table)>;    // by number

    template <class Wanted> Found look_up(const Owners& owners, Wanted&& wanted) const;
    nacelle_launch shape_of(const Kernel& kernel, size_t number, uint64_t count) const;

    nacelle::plugin::Host host_;
    Owners owners_;
    std::optional<Owners> of_draft_;
    std::array<uint32_t, program_count> programs_{};
    Found found_, found_in_draft_;
    std::array<bool, program_count> drafted_{};
};

}
