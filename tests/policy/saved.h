#pragma once
#include "engine/run/checkpoint.h"
#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>

// A run's directory as a learner would have left it, made by hand so that its answers are known.
namespace nacelle::test {

// Two numbers go into one layer: the scores of three gears are the first number, the second one and 0; the push has
// the mean of half the first number and a deviation of 1/2.
inline Json gears_and_push() {
    return {{"observation", {{{"name", "obs"}, {"count", 2}}}},
            {"actions",
             {{{"name", "action.gear"}, {"choices", 3}},
              {{"name", "action.push"}, {"low", -2}, {"high", 3}}}},
            {"network",
             {{"weights", "pilot.policy.weights"},
              {"sizes", {2, 5}},
              {"activation", "tanh"},
              {"biases", "behind"}}},
            {"draws", true},
            {"squash", false},
            {"log_deviation", {-10, 2}},
            {"noise_steps", 1}};
}
inline std::vector<float> gears_and_push_weights() {
    return {1, 0, 0, 1, 0, 0, 0.5f, 0, 0, 0, 0, 0, 0, 0, std::log(0.5f)};
}

// The tensors' file with one array.
inline std::string tensors_of(const std::string& name, const std::vector<float>& values) {
    return safetensors_of({{.name = name, .dtype = Dtype::f32, .shape = {int64_t(values.size())}}},
                          [&](size_t, void* target) {
                              std::copy(values.begin(), values.end(), static_cast<float*>(target));
                          });
}

class SavedRun final {
public:
    explicit SavedRun(Json policies = {{"pilot", gears_and_push()}})
        : policies_(std::move(policies)) {
        std::filesystem::create_directory(path() / "checkpoints");
    }
    std::filesystem::path path() const { return folder_.path(); }
    Checkpoints checkpoints() const { return Checkpoints(path() / "checkpoints"); }
    void save(uint64_t steps, bool as_best, const std::string& tensors) const {
        checkpoints().save({.environment = "Car",
                            .learner = "hand",
                            .files = {},
                            .steps = steps,
                            .evaluation = {},
                            .best = {},
                            .policies = policies_},
                           tensors, as_best);
    }
    void save(uint64_t steps, bool as_best) const {
        save(steps, as_best, tensors_of("hand.pilot.policy.weights", gears_and_push_weights()));
    }

private:
    Folder folder_;
    Json policies_;
};

}
