// The face of trained policies for applications in C++.
#include "engine/nacelle.hpp"
#include "engine/policy/device_policy.h"
#include "engine/policy/open_policy.h"
#include "engine/policy/read_policy_description.h"

namespace nacelle {

Policy::Policy(const std::filesystem::path& path, const std::string& name,
               const std::string& checkpoint)
    : Policy(open_policy(checkpoint_at(path, checkpoint), name)) {}
Policy::Policy(OpenedPolicy&& opened)
    : policy_(std::move(opened.policy)),
      environment_(std::move(opened.environment)),
      steps_(opened.steps) {}
std::vector<std::string> Policy::names(const std::filesystem::path& path,
                                       const std::string& checkpoint) {
    return policy_names(policies_in(checkpoint_at(path, checkpoint)));
}
const std::string& Policy::name() const { return policy_->description().name; }
size_t Policy::inputs() const { return policy_->description().inputs(); }
size_t Policy::choices() const { return policy_->description().choices(); }
size_t Policy::parts() const { return policy_->description().actions.size(); }
std::vector<ActionPart> Policy::actions() const {
    std::vector<ActionPart> parts;
    for (const PolicyPart& part : policy_->description().actions)
        parts.push_back({part.name, part.range.choices, part.range.low, part.range.high});
    return parts;
}
void Policy::act(std::span<const float> observations, std::span<float> actions,
                 std::span<const uint8_t> masks) const {
    policy_->act(observations, actions, masks, nullptr);
}
void Policy::sample(std::span<const float> observations, std::span<float> actions,
                    std::span<const uint8_t> masks) {
    const TrainedPolicy::Draws draws{.seed = seed_, .step = calls_};
    policy_->act(observations, actions, masks, &draws);
    ++calls_;
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
