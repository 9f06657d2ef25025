#include "engine/policy/read_policy_description.h"
#include "engine/policy/trained_policy.h"
#include "tests/algorithms/cases.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"

// Policies that act without their learner choose what the learner itself would choose.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A learner in its environment after some iterations, and its policies apart from it.
class Apart final {
public:
    Apart(const std::shared_ptr<RunsOn>& on, const Case& c, uint64_t seed)
        : lesson_(on, env_of(c.env, 96), c.learner, c.config, seed), dice_(seed) {
        lesson_.iterate(2);
    }

    // Other observations and masks than the environment's own.
    void disturb() {
        for (const Field& field : lesson_.env().schema().fields()) {
            if (field.role != Role::obs && field.role != Role::mask) continue;
            NamedArray& array = lesson_.env().arrays()[field.name];
            if (field.role == Role::mask) {
                std::vector<uint8_t> bytes(array.count());
                for (uint8_t& byte : bytes) byte = dice_.chance(0.6);
                array.write_bytes(bytes.data(), bytes.size());
            } else if (array.dtype() == Dtype::f32) {
                std::vector<float> values(array.count());
                for (float& value : values) value = dice_.uniform(-3, 3);
                array.write(std::span<const float>(values));
            }
        }
    }
    // The number of parts that were compared, of all policies; adds up what differs in `wrong`.
    size_t compare(size_t& wrong) {
        lesson_.learner().act(true);
        size_t compared = 0;
        const EnvSchema& schema = lesson_.env().schema();
        const Header& header = schema.header();
        const Json told = lesson_.learner().policies();
        REQUIRE(told.size() == header.policies);
        for (uint32_t p = 0; p < header.policies; ++p) {
            const Decider& decider = header.policy[p];
            const TrainedPolicy policy(
                read_policy_description(told, decider.name, "told"),
                [&](const std::string& name) { return lesson_.array(name).host<float>(); }, "told");
            const std::vector<float> here = acted(policy, decider.group);
            const std::vector<float> its = actions_of(decider.group);
            const size_t parts = policy.description().actions.size(),
                         in_group = header.group[decider.group].count;
            REQUIRE(here.size() == its.size());
            for (const size_t agent : agents_of(decider))
                for (size_t row = agent; row * parts < its.size(); row += in_group)
                    for (size_t part = 0; part < parts; ++part, ++compared) {
                        const size_t at = row * parts + part;
                        const bool choice = policy.description().actions[part].range.choices > 0;
                        wrong += choice ? here[at] != its[at] : std::abs(here[at] - its[at]) > 1e-5;
                    }
        }
        return compared;
    }

private:
    std::vector<size_t> agents_of(const Decider& decider) {
        const std::string name = std::string(decider.name) + ".policy.agents";
        if (decider.agents == lesson_.env().schema().header().group[decider.group].count) {
            std::vector<size_t> all(decider.agents);
            for (size_t i = 0; i < all.size(); ++i) all[i] = i;
            return all;
        }
        std::vector<size_t> agents;
        for (const double id : lesson_.numbers(name)) agents.push_back(size_t(id));
        return agents;
    }
    // All rows of the arrays that the description names, as an application puts them together.
    std::vector<float> acted(const TrainedPolicy& policy, uint32_t group) {
        const Header& header = lesson_.env().schema().header();
        const size_t rows = size_t(lesson_.env().count()) * header.group[group].count,
                     inputs = policy.description().inputs();
        std::vector<float> seen(rows * inputs);
        size_t first = 0;
        for (const auto& [name, count] : policy.description().observation) {
            const std::vector<double> values = numbers(lesson_.env(), name);
            REQUIRE(values.size() == rows * count);
            for (size_t row = 0; row < rows; ++row)
                for (size_t k = 0; k < count; ++k)
                    seen[row * inputs + first + k] = float(values[row * count + k]);
            first += count;
        }
        const std::string mask =
            header.groups > 1 ? std::string(header.group[group].name) + ".mask" : "mask";
        std::vector<uint8_t> masks;
        if (header.group[group].mask_width > 0)
            masks = lesson_.env().arrays()[mask].host<uint8_t>();
        std::vector<float> actions(rows * policy.description().actions.size());
        policy.act(seen, actions, masks, nullptr);
        return actions;
    }
    // What lies in the action arrays, [rows][parts].
    std::vector<float> actions_of(uint32_t group) {
        const EnvSchema& schema = lesson_.env().schema();
        const size_t rows = size_t(lesson_.env().count()) * schema.header().group[group].count,
                     parts = schema.header().group[group].action_parts;
        std::vector<float> all(rows * parts);
        size_t part = 0;
        for (const Field& field : schema.fields()) {
            if (field.role != Role::action || field.group != group) continue;
            const std::vector<double> values = numbers(lesson_.env(), field.name);
            for (size_t i = 0; i < field.count; ++i, ++part)
                for (size_t row = 0; row < rows; ++row)
                    all[row * parts + part] = float(values[i * rows + row]);
        }
        return all;
    }

    Lesson lesson_;
    Dice dice_;
};

void hold_apart(const std::shared_ptr<RunsOn>& on, const Case& c) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    CAPTURE(c.learner);
    Apart apart(on, c, seed);
    for (int time = 0; time < 3; ++time) {
        size_t wrong = 0;
        CHECK(apart.compare(wrong) >= 96);
        CHECK(wrong == 0);
        apart.disturb();
    }
}

}

TEST_CASE(
    "a policy apart from its learner chooses as the learner does, for every kind of network") {
    for (Case c : few_if_sanitized(cases(), sanitized_cases)) {
        c.config.update({{"horizon", 8}, {"learning_rate", 0.01}});
        hold_apart(quick_cpu(), c);
    }
}

TEST_CASE("a policy apart from its learner chooses as the learner does behind convolutions") {
    for (Case c : few_if_sanitized(convolved_cases(), {1})) {
        c.config.update({{"horizon", 8}, {"learning_rate", 0.01}});
        hold_apart(quick_cpu(), c);
    }
}

TEST_CASE("a policy apart from its learner chooses alike where observations are not normalised") {
    Case c = cases()[4];
    c.config.update({{"horizon", 8}, {"normalise_observations", false}});
    hold_apart(quick_cpu(), c);
}

TEST_CASE("a policy of random search acts apart from it, though it does not draw") {
    hold_apart(
        quick_cpu(),
        {"mixed", "random_search", {{"name", "random_search"}, {"episodes", 4}, {"steps", 20}}});
}

TEST_CASE("a policy that plays at random has no network that could act elsewhere") {
    Json config = cases()[6].config;
    config["policies"]["runner"] = {{"train", "random"}};
    Lesson lesson(cpu(), env_of("relay", 100), "ppo", config);
    const Json told = lesson.learner().policies();
    CHECK(complaint([&] { read_policy_description(told, "runner", "run"); }) ==
          "run: the policy 'runner' acts at random: it has no network that could be asked");
    CHECK(read_policy_description(told, "keeper", "run").sizes == std::vector<size_t>{3, 5});
}
