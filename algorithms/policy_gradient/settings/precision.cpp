#include "algorithms/policy_gradient/settings/precision.h"

#include "algorithms/policy_gradient/layers/layered_update.h"
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <algorithm>
#include <learn/layout/conv_tiles.h>

namespace learn {
namespace {

constexpr uint32_t most_block_bytes = 227 * 1024;    // of shared memory

// Planes of bfloat16 that a number has. f32 keeps all 24 bits, but 16 where all layers are wide and products of their
// own: rounding then averages out over many terms. What is remembered goes through many steps, and convolutions have few
// terms.
int planes_of(const PolicySettings& policy) {
    constexpr int64_t many_terms = 128;
    if (policy.precision == "bf16") return 1;
    const bool wide = std::all_of(policy.hidden.begin(), policy.hidden.end(),
                                  [](int64_t width) { return width >= many_terms; });
    return policy.streamed() && wide && !policy.hidden.empty() && !policy.remembers() &&
                   policy.convolutions.empty()
               ? 2
               : 3;
}

// Convolutions go through memory.
void choose_streamed(PolicySettings& policy, const Encoder& encoder) {
    const std::string path = "policies." + policy.name + ".";
    if (policy.execution == "fused")
        wrong(path + "execution", "a fused kernel has no convolutions; \"streamed\" has");
    if (policy.passes_rows())
        wrong(path + "execution", "a row pass has no convolutions; \"streamed\" has");
    policy.execution = "streamed";
    policy.planes = planes_of(policy);
    for (int l = 0; l < encoder.count; ++l) {
        uint32_t bytes =
            std::max(forward_block(encoder, l, policy.planes, policy.keeps_input()).bytes,
                     weights_block(encoder, l, policy.planes).bytes);
        if (l > 0) bytes = std::max(bytes, backward_block(encoder, l, policy.planes).bytes);
        if (bytes > most_block_bytes)
            wrong(path + "hidden", "convolution " + std::to_string(l + 1) + " in " +
                                       policy.precision + " needs " + std::to_string(bytes) +
                                       " bytes of a processor's shared memory for one sample, of " +
                                       std::to_string(most_block_bytes) + " that there are");
    }
}

}

void require_tensor_cores(const nacelle_environment& environment) {
    if (environment.on_gpu && environment.compute < 80)
        throw std::runtime_error(
            "networks need tensor cores for bfloat16, of capability 8.0 or above; this GPU has " +
            std::to_string(environment.compute / 10) + "." +
            std::to_string(environment.compute % 10) + ", and a CPU trains the same networks");
}

void choose_precision(PolicySettings& policy, const nacelle_environment& environment,
                      bool emulates) {
    if (policy.role == PolicySettings::Role::random) return;
    const std::string path = "policies." + policy.name + ".";
    if (!environment.on_gpu && !emulates) {
        if (policy.precision == "bf16")
            wrong(path + "precision", "a CPU computes in f32; bf16 needs a GPU");
        if (policy.execution != "auto")
            wrong(path + "execution", "is a choice of kernels for GPUs; a CPU has one way");
        policy.precision = "f32";
        policy.wide_on_cpu = is_wide(policy, NetworkShape(policy, environment));
        return;
    }
    require_tensor_cores(environment);
    const bool bf16 = policy.precision == "bf16" || (policy.precision == "auto" && !emulates);
    policy.precision = bf16 ? "bf16" : "f32";
    policy.planes = bf16 ? 1 : 3;
    const NetworkShape shape(policy, environment);
    if (shape.encoder.count) {
        choose_streamed(policy, shape.encoder);
        return;
    }
    const TensorFit fit = tensor_fit(policy, shape, environment.compute);
    const std::string obstacle =
        policy.remembers() ? "a layer that remembers is none of its kernels" : fit.obstacle;
    if (policy.execution == "fused" && !obstacle.empty())
        wrong(path + "execution", "these networks cannot be computed by one kernel in " +
                                      policy.precision + ": " + obstacle + "; \"streamed\" can");
    // Rows of many numbers: a step of one agent has too few of them for one kernel to be faster (rooms, H200, 2026-11).
    const bool few = fit.in_chunks && !SchemaView(environment).header().is_team;
    const bool decides = policy.execution == "auto", forced = policy.execution == "row_pass";
    if (decides) policy.execution = obstacle.empty() && !few ? "fused" : "streamed";
    policy.planes = planes_of(policy);
    // With several planes it is slower than a kernel for each layer, measured on an H200.
    if (forced || (decides && policy.streamed() && policy.planes == 1)) {
        const std::string why = row_pass_obstacle(policy, shape, environment, emulates);
        if (forced && !why.empty())
            wrong(path + "execution", "one kernel cannot take rows through these layers in " +
                                          policy.precision + ": " + why + "; \"streamed\" can");
        if (why.empty()) policy.execution = "row_pass";
    }
}

}
