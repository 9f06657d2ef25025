#include "algorithms/policy_gradient/settings/kept_observations.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <algorithm>

namespace learn {
namespace {

// Of fewer numbers a row is a small part of what a step reads and writes: of 4 nothing is gained, of 21 a tenth (CartPole
// and grid Tag of 5, H100, 2026-11).
constexpr uint32_t fewest_numbers = 16;

bool takes_pairs(const PolicySettings& policy, const nacelle_environment& environment) {
    return tensor_fit(policy, NetworkShape(policy, environment), environment.compute).takes_pairs;
}

// Why they cannot be in bf16, or nothing. What is kept is what the first layers read, so that all of them have to read it.
std::string obstacle(const Settings& settings, const nacelle_environment& environment) {
    if (settings.external) return "this learner's networks read floats";
    if (!environment.on_gpu && !settings.emulates) return "a CPU computes in f32";
    if (SchemaView(environment).header().has_image) return "images are kept as they are";
    for (const PolicySettings& policy : settings.policies) {
        if (policy.role == PolicySettings::Role::random) continue;
        if (policy.past.form != Against::none)
            return "members of the pool of '" + policy.name +
                   "' normalise what they see by numbers of their own";
        if (policy.precision != "bf16") return "policy '" + policy.name + "' computes in f32";
        if (!policy.streamed() && !takes_pairs(policy, environment))
            return "pairs of policy '" + policy.name +
                   "' have no room beside so wide a layer; execution \"streamed\" takes them";
    }
    return {};
}

}

bool keeps_in_bf16(const std::string& word, const Settings& settings,
                   const nacelle_environment& environment) {
    if (word == "f32") return false;
    const std::string why = obstacle(settings, environment);
    if (word == "bf16" && !why.empty())
        wrong("kept_observations", why + "; \"f32\" is for all, and so is \"auto\"");
    if (word == "bf16" || !why.empty()) return word == "bf16";
    const SchemaView schema(environment);
    uint32_t widest = 0;
    for (uint32_t g = 0; g < schema.header().groups; ++g) widest = std::max(widest, schema.seen(g));
    return widest >= fewest_numbers;
}

}
