#pragma once
#include "engine/env/reloader.h"
#include "engine/nacelle.hpp"
#include "engine/view/drawing.h"
#include "python/binding/actions.h"
#include "python/binding/buffer_view.h"
#include "python/binding/own_arrays.h"
#include "python/binding/step_outputs.h"

#include <deque>

namespace nacelle::python {

// The copies of one environment, side by side, as Python steps them.
class Batch final {
public:
    Batch(std::shared_ptr<EngineUse> use, Env env);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Name, sizes, groups, fields and parameters, as JSON.
    std::string describe();
    std::shared_ptr<DeviceArray> array(const std::string& name);

    // With a seed everything begins anew: the same calls give the same numbers.
    void reset(std::optional<uint64_t> seed);
    void reset_some(const std::vector<uint32_t>& chosen);

    // What steps leave for a caller.
    std::shared_ptr<StepOutputs> outputs(const std::vector<std::string>& names, size_t late);
    // One step with actions from objects with the buffer protocol, one for each policy; the outputs go into arrays of the
    // caller's own, or stay in the engine where there are none. It has ended when the call returns, which says whether an
    // episode has, too. `written`: by StepOutputs::step.
    bool step_from(const std::vector<nb::object>& actions, StepOutputs& outputs,
                   const OwnArrays* own, bool written);
    // One step with actions and targets at addresses in the device's memory, behind what is on a library's stream and
    // before what is put there then. A GPU is not waited for, and the result is None.
    using GivenAt = std::tuple<uintptr_t, uint32_t, uint64_t>;    // address, type, numbers
    nb::object step_at(const std::vector<GivenAt>& actions, int64_t stream, StepOutputs& outputs,
                       const std::vector<uintptr_t>& targets);
    // One step with the actions that lie in the engine's arrays. A GPU is not waited for.
    void step();
    // Order with a stream of a library.
    void wait_for(int64_t stream) { on().stream->wait_for(native_stream(stream)); }
    void make_wait(int64_t stream) { on().stream->make_wait(native_stream(stream)); }
    // Fills the arrays of observations with what the states show at the last step.
    void observe_again();
    // Throws for an action that was not allowed, a reward or an observation that is not finite. Waits for a GPU.
    void check();

    void set_param(const std::string& name, const std::string& value);
    std::string param(const std::string& name);
    // Compiles the author's file as it is now, and goes on in that version. False where nothing has changed.
    bool reload();
    // From now on each save of the author's file is compiled while steps go on.
    void watch();
    // Whether a save was compiled, or has failed to: cheap.
    bool has_save() const { return reloader_ && reloader_->ready(); }
    // What became of it, once: whether other code runs now, and the sentence about it.
    std::optional<std::pair<bool, std::string>> take_save();

    // The states of these environments become snapshots 0, 1, ... in place of those that were kept.
    void save_snapshots(const std::vector<uint32_t>& chosen);
    // chosen[i] goes on from snapshot places[i].
    void restore_snapshots(const std::vector<uint32_t>& chosen,
                           const std::vector<uint32_t>& places);
    void set_snapshot_chance(double chance);

    // A picture of one environment: its width, height and RGB.
    nb::object picture(uint32_t which, int pixels);

    std::vector<std::string> names() { return env_.arrays().names(); }

private:
    Environment& environment() { return *environment_; }
    RunsOn& on() { return environment_->on(); }
    std::vector<Actions>& actions(size_t given);
    void forget_version();
    void take_from_host(const std::deque<BufferView>& given);

    std::shared_ptr<EngineUse> use_;
    Env env_;
    std::shared_ptr<Environment> environment_;
    std::vector<PolicyAgents> policies_;
    std::vector<Actions> actions_;    // of each policy, made when they are first needed
    std::unique_ptr<Drawing> drawing_;
    std::vector<Buffer> given_;    // of a GPU: actions from ordinary memory
    bool ours_;                    // nobody else could write the author's files at the beginning
    bool rebuilt_ = false;         // by the call of the reloader that is under way
    std::unique_ptr<Reloader> reloader_;
};

void bind_batch(nb::module_& module);

}
