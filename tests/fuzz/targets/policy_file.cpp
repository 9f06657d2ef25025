#include "engine/export/onnx_policy.h"
#include "engine/policy/read_policy_description.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

// ONNX files of exported policies; what else they hold is read as checkpoints and safetensors are.
class PolicyFile final : public Target {
public:
    std::vector<std::string> samples() override { return {sample(false), sample(true)}; }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_bytes(input, other, dice);
    }

    void read(const std::string& input) override {
        policy_of(read_onnx(input, "policy.onnx"), "policy.onnx");
    }

private:
    static std::string sample(bool remembers) {
        Json told = {
            {"observation", {{{"name", "obs"}, {"count", 2}}}},
            {"actions",
             {{{"name", "gear"}, {"choices", 3}}, {{"name", "push"}, {"low", -2}, {"high", 3}}}},
            {"network", {{"weights", "weights"}, {"sizes", {2, 3, 5}}}}};
        if (remembers) told["network"]["cells"] = {"gru"};
        PolicyDescription description =
            read_policy_description(Json{{"pilot", told}}, {}, "a sample");
        const size_t count = policy_layout(description).policy.end;
        auto policy = std::make_shared<const TrainedPolicy>(
            std::move(description), [&](const std::string&) { return std::vector<float>(count); },
            "a sample");
        return onnx_of(
            {.policy = std::move(policy), .environment = "Car", .steps = 5, .told = told});
    }
};

}

std::unique_ptr<Target> policy_file_target() { return std::make_unique<PolicyFile>(); }

}
