#pragma once
#include "engine/nacelle.hpp"
#include "engine/view/drawing.h"
#include "python/binding/actions.h"
#include "python/binding/device_array.h"

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

    // Numbers of one group's actions, from the memory of an object with the buffer protocol or from a device's.
    void take(uint32_t group, uint32_t first_part, nb::handle actions);
    void take_pointer(uint32_t group, uint32_t first_part, uint64_t pointer,
                      const std::string& type, uint64_t numbers);
    // One step. On a CPU it has ended when the call returns, and the result says whether an episode has, too.
    bool step();
    void step_at_random();
    // Order with a stream of a library.
    void wait_for(int64_t stream) { on().stream->wait_for(native_stream(stream)); }
    void make_wait(int64_t stream) { on().stream->make_wait(native_stream(stream)); }
    // All that a training loop of one agent and one kind of number needs, in one call.
    bool step_with(nb::handle actions);
    void step_on_device(uint64_t pointer, const std::string& type, uint64_t numbers,
                        int64_t stream);
    // Throws for an action that was not allowed, a reward or an observation that is not finite. Waits for a GPU.
    void check();

    void save_snapshots(const std::vector<uint32_t>& chosen);
    void restore_snapshots(const std::vector<uint32_t>& chosen,
                           const std::vector<uint32_t>& places);
    void set_snapshot_chance(double chance);
    void set_param(const std::string& name, const std::string& value);
    std::string param(const std::string& name);
    // Statistics of the episodes that ended since the last call, as JSON.
    std::string take_totals();
    // Compiles the author's file as it is now, and goes on in that version. False where nothing has changed.
    bool reload();
    // A picture of one environment: its width, height and RGB.
    nb::object picture(uint32_t which, int pixels);

    Env& env() { return env_; }
    const std::shared_ptr<EngineUse>& use() const { return use_; }

private:
    Environment& environment() { return *environment_; }
    RunsOn& on() { return environment_->on(); }
    Actions& actions();
    void find_flags();
    bool finish_step();

    std::shared_ptr<EngineUse> use_;
    Env env_;
    std::shared_ptr<Environment> environment_;
    std::unique_ptr<Actions> actions_;    // made when it is first needed
    std::unique_ptr<Drawing> drawing_;
    const void *terminated_ = nullptr, *truncated_ = nullptr;
};

void bind_batch(nb::module_& module);

}
