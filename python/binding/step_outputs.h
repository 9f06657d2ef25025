#pragma once
#include "engine/env/environment.h"
#include "python/binding/device_array.h"

#include <nacelle/programs/hand_out.h>

#include <span>

namespace nacelle::python {

// What each step leaves for a caller: which episodes have ended, and copies of arrays in memory of his own. It holds
// the arrays' memory, and so may outlive its environment and a reload.
class StepOutputs final {
public:
    using Targets = std::span<void* const>;
    // The arrays with these names. The last `late` ones matter only where an episode has ended.
    StepOutputs(std::shared_ptr<EngineUse> use, Environment& env,
                const std::vector<std::string>& names, size_t late);
    ~StepOutputs();
    StepOutputs(const StepOutputs&) = delete;
    StepOutputs& operator=(const StepOutputs&) = delete;

    // "done", whether an episode of each environment has ended, and then the arrays.
    const std::vector<std::shared_ptr<DeviceArray>>& arrays() const { return arrays_; }

    // Throws unless there is a target for each array, or none at all: to be asked before a step, which moves things.
    void require_targets(size_t count) const;
    // Whether a CPU's step may write this array into its target: no step reads it.
    bool is_written(size_t array) const { return written_[array]; }
    // One step, which fills the first array, and copies of all in targets in ordinary memory, one for each, unless there
    // are none. Waits. Whether an episode has ended; only then the late ones are copied, of one agent on a CPU the rows of
    // ended episodes alone. With `written` the targets of arrays that may be written have the step's numbers in place of the
    // arrays themselves, which stay as they were.
    bool step(Environment& env, Targets targets, bool written);
    // Behind a step, with targets in a GPU's memory, on the environment's stream. Nobody waits, and all are copied.
    void hand_out_on_device(Targets targets);

private:
    bool step_and_hand_out(Environment& env, Targets targets, bool written);
    bool hand_out(Targets targets);
    HandedPart part_of(size_t array, void* target) const;
    void launch(std::span<const HandedPart> parts);

    std::shared_ptr<EngineUse> use_;
    std::shared_ptr<RunsOn> on_;
    std::shared_ptr<const Buffer> terminated_, truncated_;
    std::vector<std::shared_ptr<DeviceArray>> arrays_;
    std::vector<bool> written_;    // of each array
    std::vector<bool>
        by_rows_;    // of each array: it has a row for each environment, one after the other
    bool alone_;     // one agent, on a CPU
    size_t late_;
    std::unique_ptr<Module> module_;    // of a GPU
    Kernel kernel_;
};

void bind_step_outputs(nb::module_& module);

}
