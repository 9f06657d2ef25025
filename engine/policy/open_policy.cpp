#include "engine/policy/open_policy.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/policy/read_policy_description.h"
#include "engine/run/choose_checkpoint.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

std::vector<float> floats_in(const Checkpoint& checkpoint, const std::string& name) {
    const auto found = std::find_if(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                    [&](const Tensor& tensor) { return tensor.name == name; });
    if (found == checkpoint.tensors.end())
        throw Error(checkpoint.where, "is damaged: it has no " + name);
    if (found->dtype != Dtype::f32)
        throw Error(checkpoint.where,
                    "its " + name + " is " + found->form() + "; a policy acts with f32");
    std::vector<float> numbers(found->data.size() / sizeof(float));
    std::memcpy(numbers.data(), found->data.data(), found->data.size());
    return numbers;
}

}

Checkpoint checkpoint_at(const fs::path& path, const std::string& checkpoint) {
    constexpr const char* instead =
        "name a run's directory, such as runs/cartpole-1, or a checkpoint's .json";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) throw Error(path.string(), "does not exist", instead);
    if (fs::is_directory(path, ignored)) {
        if (!fs::is_directory(path / "checkpoints", ignored))
            throw Error(path.string(), "holds no run: it has no folder 'checkpoints'", instead);
        return choose_checkpoint(path, checkpoint, Log());
    }
    if (path.extension() == ".safetensors")
        throw Error(path.string(), "is a checkpoint's arrays alone",
                    "name the .json beside it, which says what they are");
    if (checkpoint != "best")
        throw Error(path.string(),
                    "is one checkpoint; '" + checkpoint + "' is chosen of a run's directory");
    return Checkpoints::read(path);
}

const nlohmann::json& policies_in(const Checkpoint& checkpoint) {
    if (checkpoint.record.policies.is_null())
        throw Error(checkpoint.where,
                    "does not say how its policies act: an earlier version wrote it, or its "
                    "learner '" +
                        checkpoint.record.learner + "' does not tell",
                    "'nacelle resume' with a larger run.total_steps saves one that does; a "
                    "learner tells it by policies()");
    return checkpoint.record.policies;
}

OpenedPolicy open_policy(const Checkpoint& checkpoint, const std::string& name) {
    PolicyDescription description =
        read_policy_description(policies_in(checkpoint), name, checkpoint.where);
    const std::string prefix = checkpoint.record.learner + ".", named = description.name;
    const auto read = [&](const std::string& array) {
        return floats_in(checkpoint, prefix + array);
    };
    return {.policy =
                std::make_shared<TrainedPolicy>(std::move(description), read, checkpoint.where),
            .environment = checkpoint.record.environment,
            .steps = checkpoint.record.steps,
            .told = policies_in(checkpoint)[named]};
}

OpenedPolicy open_policy(Trainee& trainee, uint64_t steps, const std::string& name) {
    const std::string& learner = trainee.learner().name();
    const Json policies = trainee.learner().policies();
    if (policies.is_null())
        throw Error(learner, "does not tell how its policies act", "a learner does by policies()");
    PolicyDescription description = read_policy_description(policies, name, learner);
    const std::string named = description.name;
    Environment& env = trainee.environment();
    const auto read = [&](const std::string& array) {
        return env.arrays()[learner + "." + array].host<float>();
    };
    return {.policy = std::make_shared<TrainedPolicy>(std::move(description), read, learner),
            .environment = env.name(),
            .steps = steps,
            .told = policies[named]};
}

}
