#include "engine/run/checkpoint.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/policy/open_policy.h"
#include "engine/policy/read_policy_description.h"
#include "tests/env/workbench.h"
#include "tests/fuzz/containers.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/fuzz/target.h"

#include <fstream>

namespace nacelle::fuzz {
namespace {

std::string hash_of(const std::string& bytes) { return Hash().add(bytes).hex(); }

void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;    // write_file() would wait for the disk
}

// The JSON with a checksum of its own, so that what is behind the checksum is read.
std::string sealed(Json json) {
    json.erase("seal");
    json["seal"] = hash_of(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// An input is the JSON and the tensors, one behind the other.
class Checkpoint final : public Target {
public:
    std::vector<std::string> samples() override {
        std::vector<std::string> inputs;
        for (const size_t count : {0, 5}) {
            CheckpointRecord record{.environment = "CartPole",
                                    .learner = "ppo",
                                    .layout = ~uint64_t(0),
                                    .spaces = 1,
                                    .files = {.files = {{"cartpole.cu", "0123"}}, .tables = {}},
                                    .iteration = 3,
                                    .steps = 12288,
                                    .tick = 99,
                                    .evaluation = {},
                                    .best = {}};
            if (count) record.best = record.evaluation = CheckpointRecord::Score{20.5, 4096};
            if (count) record.policies = sample_policies();
            const Checkpoints checkpoints(folder_.path());
            const std::string tensors = sample_tensors(count);
            checkpoints.save(record, tensors, false);
            inputs.push_back(joined(read_file(checkpoints.of_steps(record.steps)), tensors));
        }
        return inputs;
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        auto [words, tensors] = parted(input);
        const auto [other_words, other_tensors] = parted(other);
        if (dice.chance(0.4)) tensors = mutated_tensors(tensors, other_tensors, dice);
        Json json = Json::parse(words, nullptr, false);
        if (!json.is_object() || dice.chance(0.1))
            return joined(mutated_text(words, other_words, dice), tensors);
        if (json.contains("tensors") && json["tensors"].is_object()) {
            json["tensors"]["bytes"] = tensors.size();
            json["tensors"]["checksum"] = hash_of(tensors);
        }
        if (dice.chance(0.2)) return joined(sealed(json), tensors);
        if (dice.chance(0.2)) return joined(mutated_json_text(words, other_words, dice), tensors);
        const Json with = Json::parse(other_words, nullptr, false);
        json = mutated_json(json, with.is_discarded() ? Json() : with, dice);
        return joined(json.is_object() ? sealed(json) : json_text(json, dice), tensors);
    }

    void read(const std::string& input) override {
        const auto [words, tensors] = parted(input);
        const std::filesystem::path folder = folder_.path(),
                                    json = folder / "step-000000000012288.json";
        write(json, words);
        write(folder / "step-000000000012288.safetensors", tensors);
        const nacelle::Checkpoint checkpoint = Checkpoints::read(json);
        unsigned sum = 0;
        for (const Tensor& tensor : checkpoint.tensors)
            for (const std::byte byte : tensor.data) sum += unsigned(byte);
        volatile unsigned seen = sum;
        (void)seen;
        act(checkpoint);
    }

private:
    static Json sample_policies() {
        return {
            {"pilot",
             {{"observation", {{{"name", "obs"}, {"count", 1}}}},
              {"actions",
               {{{"name", "go"}, {"choices", 2}}, {{"name", "push"}, {"low", -1}, {"high", 1}}}},
              {"network", {{"weights", "w"}, {"sizes", {1, 2, 4}}, {"biases", "in rows"}}},
              {"draws", true},
              {"log_deviation", {-10, 2}}}}};
    }
    // Whatever the arrays are called: a policy is asked for numbers that it could take.
    static void act(const nacelle::Checkpoint& checkpoint) {
        if (checkpoint.record.policies.is_null()) return;
        for (const std::string& name : policy_names(checkpoint.record.policies)) {
            const TrainedPolicy policy(
                read_policy_description(checkpoint.record.policies, name, "input"),
                [](const std::string&) { return std::vector<float>(1000, 0.5f); }, "input");
            std::vector<float> observations(policy.description().inputs(), 0.5f),
                actions(policy.description().actions.size());
            const TrainedPolicy::Draws draws;
            policy.act(observations, actions, {}, nullptr);
            policy.act(observations, actions, {}, &draws);
        }
    }

    const test::Folder folder_;
};

}

std::unique_ptr<Target> checkpoint_target() { return std::make_unique<Checkpoint>(); }

}
