#include "engine/run/safetensors.h"
#include "tests/match/games.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Json policy_json(uint32_t seen = 2, uint32_t choices = 4) {
    return {{"observation", {{{"name", "obs"}, {"count", seen}}}},
            {"actions",
             {{{"name", "action.pick"}, {"choices", choices}},
              {{"name", "action.push"}, {"low", -1}, {"high", 1}}}},
            {"network",
             {{"weights", "weights"}, {"sizes", {seen, choices + 1}}, {"biases", "behind"}}}};
}

Checkpoint saved(const Folder& folder, const Json& policies, const std::string& name = "Duel") {
    const std::vector<float> zeros(100);
    const std::string tensors = safetensors_of(
        {{.name = "hand.weights", .dtype = Dtype::f32, .shape = {int64_t(zeros.size())}}},
        [&](size_t, void* to) { std::copy(zeros.begin(), zeros.end(), static_cast<float*>(to)); });
    const Checkpoints all(folder.path());
    all.save({.environment = name,
              .learner = "hand",
              .files = {},
              .steps = 5,
              .evaluation = {},
              .best = {},
              .policies = policies},
             tensors, true);
    return Checkpoints::read(all.best());
}

}

TEST_CASE("a checkpoint becomes a player with a policy for each role, or says why it cannot") {
    const Folder folder;
    Environment env(quick_cpu(), settings_of({{"source", folder.write("duel.cu", duel).string()},
                                              {"count", 8}}));
    const auto refusal = [&](const Json& policies, const std::string& name = "Duel") {
        return complaint([&] { player_of(saved(folder, policies, name), env, "a"); });
    };
    const Json one = policy_json(), random = {{"observation", one["observation"]},
                                              {"actions", one["actions"]},
                                              {"random", true}};
    const Player player = player_of(saved(folder, {{"left", one}, {"right", random}}), env, "a");
    CHECK(player.policies.size() == 2);
    CHECK(player.policies[0]->description().name == "left");
    CHECK(player.policies[1] == nullptr);

    CHECK(contains(refusal({{"left", one}, {"right", one}}, "Tag"),
                   "is a checkpoint of Tag; this match is in Duel"));
    CHECK(contains(refusal({{"left", one}}), "has no policy 'right' (there is: left)"));
    CHECK(contains(refusal({{"left", one}, {"right", policy_json(3)}}),
                   "'right' sees 2 numbers (obs 2) here; it was trained with 3 numbers (obs 3)"));
    CHECK(contains(refusal({{"left", policy_json(2, 5)}, {"right", one}}),
                   "'left' acts by action.pick of 4, action.push from -1.0 to 1.0 here; it was "
                   "trained with action.pick of 5, action.push from -1.0 to 1.0"));
    CHECK(contains(refusal(nullptr), "does not say how its policies act"));
}

namespace {

NamedPolicy named(const std::string& name, size_t inputs = 2,
                  const std::string& environment = "Duel") {
    return {name + ".onnx",
            {.policy = fixed_policy(
                 name, inputs,
                 {{"action.pick", {.choices = 4}}, {"action.push", {.low = -1, .high = 1}}},
                 std::vector<float>(6)),
             .environment = environment}};
}

}

TEST_CASE("files of policies become a player where there is one for each role") {
    const Folder folder;
    Environment env(quick_cpu(), settings_of({{"source", folder.write("duel.cu", duel).string()},
                                              {"count", 8}}));
    const Player player = player_of({named("right"), named("left")}, env);
    CHECK(player.policies[0]->description().name == "left");
    const auto refusal = [&](const std::vector<NamedPolicy>& policies) {
        return complaint([&] { player_of(policies, env); });
    };
    CHECK(refusal({named("left")}) ==
          "Duel: has a policy 'right' of which no file was named (a --policy FILE for each)");
    CHECK(refusal({named("left"), named("left")}) == "left.onnx: is a second policy 'left'");
    CHECK(refusal({named("middle")}) ==
          "middle.onnx: is the policy 'middle', which Duel does not have (there is: left, right)");
    CHECK(refusal({named("left", 2, "Tag")}) ==
          "left.onnx: is a policy of Tag; this environment is Duel");
    CHECK(refusal({named("left", 3)}) ==
          "left.onnx: 'left' sees 2 numbers (obs 2) here; it was trained with 3 numbers (obs 3)");
}
