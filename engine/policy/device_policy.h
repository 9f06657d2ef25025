#pragma once
#include "engine/compile/backend.h"
#include "engine/policy/trained_policy.h"

#include <nacelle/programs/act.h>

namespace nacelle {

// A trained policy in a GPU's memory, for observations and actions that lie there, too. It does not change, so that
// threads may share it.
class DevicePolicy final {
public:
    // What is compiled for every policy, in strict arithmetic: the numbers of a CPU.
    static constexpr const char* program_text =
        "#include <nacelle/programs/act.h>\nNACELLE_ACT()\n";

    // `on` is a GPU, or a CPU that emulates one. Throws where a layer is too large for a block's shared memory.
    DevicePolicy(std::shared_ptr<RunsOn> on, std::shared_ptr<const TrainedPolicy> policy);
    DevicePolicy(const DevicePolicy&) = delete;
    DevicePolicy& operator=(const DevicePolicy&) = delete;

    // As TrainedPolicy::act, with spans of the device's memory. Puts the work on a stream of the application's and does
    // not wait for it. Throws where a size does not fit or where memory is not the device's.
    void act(std::span<const float> observations, std::span<float> actions,
             std::span<const uint8_t> masks, const TrainedPolicy::Draws* draws, void* stream) const;

private:
    uint32_t tile_for(uint64_t rows) const;
    void require_reached(const void* memory, const char* what) const;

    std::shared_ptr<RunsOn> on_;
    std::shared_ptr<const TrainedPolicy> policy_;
    std::unique_ptr<Module> module_;
    Kernel kernel_;
    Buffer numbers_, layers_, parts_;
    size_t shared_bytes_;    // that a block may have
    ActArgs args_{};         // what is the same for all calls
};

}
