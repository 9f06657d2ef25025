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
              .files = Json::object(),
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
    Json remembers = one;
    remembers["network"]["cells"] = {"gru"};
    CHECK(contains(refusal({{"left", one}, {"right", remembers}}),
                   "'right' has layers that remember"));
    CHECK(contains(refusal(nullptr), "does not say how its policies act"));
}
