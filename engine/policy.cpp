// The face of trained policies for applications in C++.
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/export/policy_file.h"
#include "engine/nacelle.hpp"
#include "engine/policy/device_policy.h"
#include "engine/policy/open_policy.h"
#include "engine/policy/read_policy_description.h"

#include <algorithm>

namespace nacelle {
namespace {

OpenedPolicy opened_at(const std::filesystem::path& path, const std::string& name,
                       const std::string& checkpoint) {
    if (!is_policy_file(path)) return open_policy(checkpoint_at(path, checkpoint), name);
    OpenedPolicy opened = open_policy_file(path);
    const std::string& its = opened.policy->description().name;
    if (!name.empty() && name != its)
        throw Error(path.string(), "has no policy '" + printable(name) + "'",
                    "there is: " + printable(its));
    if (checkpoint != "best")
        throw Error(path.string(), "is one policy; '" + printable(checkpoint) +
                                       "' is chosen of a run's directory");
    return opened;
}

}

Policy::Policy(const std::filesystem::path& path, const std::string& name,
               const std::string& checkpoint)
    : Policy(opened_at(path, name, checkpoint)) {}
Policy::Policy(OpenedPolicy&& opened)
    : policy_(std::move(opened.policy)),
      environment_(std::move(opened.environment)),
      steps_(opened.steps) {}
std::vector<std::string> Policy::names(const std::filesystem::path& path,
                                       const std::string& checkpoint) {
    if (is_policy_file(path)) return {open_policy_file(path).policy->description().name};
    return policy_names(policies_in(checkpoint_at(path, checkpoint)));
}
const std::string& Policy::name() const { return policy_->description().name; }
size_t Policy::inputs() const { return policy_->description().inputs(); }
size_t Policy::choices() const { return policy_->description().choices(); }
size_t Policy::parts() const { return policy_->description().actions.size(); }
size_t Policy::memory() const { return policy_->description().memory(); }
std::vector<ActionPart> Policy::actions() const {
    std::vector<ActionPart> parts;
    for (const PolicyPart& part : policy_->description().actions)
        parts.push_back({part.name, part.range.choices, part.range.low, part.range.high});
    return parts;
}
void Policy::act(std::span<const float> observations, std::span<float> actions,
                 std::span<const uint8_t> masks, std::span<float> memory) const {
    policy_->act(observations, actions, masks, nullptr, memory);
}
void Policy::sample(std::span<const float> observations, std::span<float> actions,
                    std::span<const uint8_t> masks, std::span<float> memory) {
    const TrainedPolicy::Draws draws{.seed = seed_, .step = calls_};
    policy_->act(observations, actions, masks, &draws, memory);
    ++calls_;
}
void Policy::forget(std::span<float> memory, size_t row) const {
    const size_t each = this->memory();
    if (each == 0)
        throw Error("Policy::forget", "'" + name() + "' remembers nothing from step to step");
    if (memory.size() % each || row >= memory.size() / each)
        throw Error("Policy::forget",
                    "there is no row " + std::to_string(row) + " in memory of " +
                        std::to_string(memory.size()) + " numbers",
                    "a row of '" + name() + "' has " + std::to_string(each));
    std::ranges::fill(memory.subspan(row * each, each), 0.0f);
}
void Policy::seed(uint64_t seed) {
    seed_ = seed;
    calls_ = 0;
}

GpuPolicy::GpuPolicy(const Policy& policy)
    : policy_(std::make_shared<const DevicePolicy>(open_backend({.backend = "cuda"}),
                                                   policy.policy_)) {}
void GpuPolicy::act(std::span<const float> observations, std::span<float> actions,
                    std::span<const uint8_t> masks, void* stream) const {
    policy_->act(observations, actions, masks, nullptr, stream);
}
void GpuPolicy::sample(std::span<const float> observations, std::span<float> actions,
                       std::span<const uint8_t> masks, void* stream) {
    const TrainedPolicy::Draws draws{.seed = seed_, .step = calls_};
    policy_->act(observations, actions, masks, &draws, stream);
    ++calls_;
}
void GpuPolicy::seed(uint64_t seed) {
    seed_ = seed;
    calls_ = 0;
}

}
