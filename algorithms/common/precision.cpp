#include "algorithms/common/precision.h"

#include "algorithms/common/tensor_fit.h"

namespace learn {
namespace {

// Why networks cannot be computed on tensor cores in so many planes, or nothing. Sets `staged` where they fit in no
// other way.
std::string tensor_obstacle(PolicySettings& policy, const nacelle_environment& environment,
                            const NetworkShape& shape, int planes) {
    if (environment.on_gpu && environment.compute < 80)
        return "bfloat16 needs a GPU of capability 8.0, and this one has " +
               std::to_string(environment.compute / 10) + "." +
               std::to_string(environment.compute % 10);
    policy.planes = planes;
    const std::string at_once = policy.staged ? "" : tensor_fit(policy, shape).obstacle;
    if (planes > 1 || (at_once.empty() && !policy.staged)) return at_once;
    policy.staged = true;    // what does not fit at once
    if (policy.activation != "tanh" && policy.activation != "relu")
        return "networks of this size bend by tanh or relu there";
    return tensor_fit(policy, shape).obstacle;
}

}

void choose_precision(PolicySettings& policy, const nacelle_environment& environment,
                      bool emulates) {
    if (policy.role == PolicySettings::Role::random) return;
    const std::string path = "policies." + policy.name + ".";
    const bool on_gpu = environment.on_gpu || emulates, asked = policy.precision == "bf16",
               either = policy.precision == "auto" && environment.on_gpu, staged = policy.staged,
               allowed = policy.tensor_cores.value_or(true);
    if (asked && !on_gpu) wrong(path + "precision", "a CPU computes in f32; bf16 needs a GPU");
    if (policy.tensor_cores && !on_gpu) wrong(path + "tensor_cores", "a CPU has none");
    if (asked && !allowed) wrong(path + "tensor_cores", "bf16 is computed on nothing else");
    const NetworkShape shape(policy, environment);
    std::string obstacle = "these networks are computed in f32";
    if (asked || (either && allowed)) obstacle = tensor_obstacle(policy, environment, shape, 1);
    if (asked && !obstacle.empty())
        wrong(path + "precision",
              "these networks cannot be trained on tensor cores: " + obstacle + "; \"f32\" can");
    policy.precision = obstacle.empty() ? "bf16" : "f32";
    if (!obstacle.empty()) {
        if (staged)
            wrong(path + "staged", "updates go in stages on tensor cores alone, and " + obstacle);
        policy.staged = false;
        policy.planes = 0;
        if (!on_gpu || !allowed) return;
        obstacle = tensor_obstacle(policy, environment, shape, 3);
        if (!obstacle.empty() && policy.tensor_cores)
            wrong(path + "tensor_cores", "these networks cannot be trained on them: " + obstacle);
    }
    if (!obstacle.empty()) {
        policy.planes = 0;
        return;
    }
    const TensorFit fit = tensor_fit(policy, shape);
    policy.threads = fit.threads;
    policy.resident = fit.resident;
}

}
