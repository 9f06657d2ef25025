// The check before a save: a learner that has diverged replaces no checkpoint.
#include "engine/base/error.h"
#include "engine/base/finite.h"
#include "engine/base/number_text.h"
#include "engine/run/run.h"
#include "engine/run/tensor_finite.h"

namespace nacelle {
namespace {

// "loss.value", or "tagger.loss.value" where several policies learn.
bool is_loss(const std::string& metric) {
    return metric.starts_with("loss.") || metric.find(".loss.") != metric.npos;
}

}

// Checks the bytes of the save, which lie in the host's memory: the check holds for learners of every library and on every
// device, and a run without a save pays nothing. Replays and agents' memories, of which each rank has a part, are left out: the
// environment's own check has seen their numbers.
void TrainingRun::require_finite(const std::string& tensors) {
    std::string found;
    for (const auto& [name, value] : progress_.metrics)
        if (found.empty() && is_loss(name) && is_not_finite(value))
            found = name + " is " + not_finite_text(value);
    Registry& arrays = trainee_.environment().arrays();
    for (const Tensor& tensor : read_safetensors(std::as_bytes(std::span(tensors)), "tensors")) {
        if (!found.empty()) break;
        found = wrong_number_of(arrays[tensor.name], tensor);
    }
    if (found.empty()) return;
    save_best();
    throw Error(trainee_.learner().name(),
                "has diverged: " + found + " at step " + std::to_string(progress_.steps) +
                    ", which is not saved",
                "earlier checkpoints are kept; a smaller learner.learning_rate, or rewards of a "
                "smaller scale, may help");
}

}
