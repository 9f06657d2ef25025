#include "engine/export/policy_file.h"
#include "engine/nacelle.hpp"
#include "engine/policy.h"
#include "tests/policy/saved.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string refused_opening(const std::filesystem::path& path, const std::string& name = {},
                            const std::string& checkpoint = "best") {
    return complaint([&] { Policy(path, name, checkpoint); });
}
// What is said to a checkpoint with these policies and this tensors' file.
std::string refused_content(const Json& policies, const std::string& tensors) {
    const SavedRun run(policies);
    run.save(7, true, tensors);
    const std::string said = refused_opening(run.path());
    const std::string where = run.checkpoints().best().string() + ": ";
    CHECK(said.starts_with(where));
    return said.substr(std::min(said.size(), where.size()));
}
std::vector<float> acted(const Policy& policy, const std::vector<float>& seen,
                         const std::vector<uint8_t>& masks = {}) {
    std::vector<float> actions(seen.size() / policy.inputs() * policy.parts());
    policy.act(seen, actions, masks);
    return actions;
}

}

TEST_CASE(
    "a policy is opened without an environment: of a run its best, its latest or a named one") {
    const SavedRun run;
    run.save(10, false);
    CHECK(Policy(run.path()).steps() == 10);    // there is no best one yet
    run.save(20, true);
    run.save(30, false);
    CHECK(Policy(run.path()).steps() == 20);
    CHECK(Policy(run.path(), "pilot", "latest").steps() == 30);
    CHECK(Policy(run.path(), "", "10").steps() == 10);
    const Policy policy(run.checkpoints().of_steps(10));
    CHECK(policy.steps() == 10);
    CHECK(policy.name() == "pilot");
    CHECK(policy.environment() == "Car");
    CHECK(policy.inputs() == 2);
    CHECK(policy.choices() == 3);
    CHECK(policy.parts() == 2);
    REQUIRE(policy.actions().size() == 2);
    CHECK(policy.actions()[0].name == "action.gear");
    CHECK(policy.actions()[0].choices == 3);
    CHECK(policy.actions()[1].low == -2);
    CHECK(policy.actions()[1].high == 3);
    CHECK(Policy::names(run.path()) == std::vector<std::string>{"pilot"});
}

TEST_CASE("a policy acts for any number of rows, within masks and bounds") {
    const SavedRun run;
    run.save(10, true);
    const Policy policy(run.path());
    CHECK(acted(policy, {}).empty());
    // Means of 0.5, -0.5 and 2, which lie in [-1, 1] of the whole range from -2 to 3; the last one is cut.
    CHECK(acted(policy, {1, 2, -1, -2, 4, 0}) == std::vector<float>{1, 1.75f, 2, -0.75f, 0, 3});
    CHECK(acted(policy, {1, 2, 1, 2}, {1, 0, 1, 0, 0, 1}) ==
          std::vector<float>{0, 1.75f, 2, 1.75f});
    // As in training: where nothing is open the first choice is taken.
    CHECK(acted(policy, {-1, 2}, {0, 0, 0})[0] == 0);
    std::vector<float> many;
    for (int row = 0; row < 1000; ++row) many.insert(many.end(), {float(row % 7) - 3, 0.5f});
    const std::vector<float> together = acted(policy, many);
    for (size_t row = 0; row < 1000; ++row) {
        const std::vector<float> alone = acted(policy, {many[2 * row], many[2 * row + 1]});
        CHECK(alone == std::vector<float>{together[2 * row], together[2 * row + 1]});
    }
}

TEST_CASE("observations are normalised before they are seen, and cut at the bound") {
    Json pilot = gears_and_push();
    pilot["normaliser"] = {{"mean", "m"}, {"scale", "s"}, {"bound", 0.25}};
    const SavedRun run(Json{{"pilot", pilot}});
    const std::vector<std::vector<float>> arrays = {{10, 0}, {0.5f, 1}, gears_and_push_weights()};
    run.save(1, true,
             safetensors_of(
                 {{.name = "hand.m", .dtype = Dtype::f32, .shape = {2}},
                  {.name = "hand.s", .dtype = Dtype::f32, .shape = {2}},
                  {.name = "hand.pilot.policy.weights", .dtype = Dtype::f32, .shape = {15}}},
                 [&](size_t i, void* target) {
                     std::copy(arrays[i].begin(), arrays[i].end(), static_cast<float*>(target));
                 }));
    const Policy policy(run.path());
    CHECK(acted(policy, {10.25f, 0, 20, 0}) ==
          std::vector<float>{0, 0.5f + 2.5f * 0.0625f, 0, 0.5f + 2.5f * 0.125f});
}

namespace {

// One number goes through a mingru of one neuron: z = s(0), c = x, h' = h + (x - h) / 2, the scores are h', -h' and 0.
Json remembering_pilot() {
    Json pilot = gears_and_push();
    pilot["observation"][0]["count"] = 1;
    pilot["actions"].erase(1);
    pilot["network"]["sizes"] = {1, 1, 3};
    pilot["network"]["cells"] = {"mingru"};
    pilot["network"]["activation"] = "relu";
    return pilot;
}
const std::vector<float> remembering_weights = {0, 1, 0, 0, 1, -1, 0, 0, 0, 0.1f};

}

TEST_CASE("what a policy remembers lies with the caller, a row for each of the observations") {
    const SavedRun run(Json{{"pilot", remembering_pilot()}});
    run.save(10, true, tensors_of("hand.pilot.policy.weights", remembering_weights));
    Policy policy(run.path());
    REQUIRE(policy.memory() == 1);
    std::vector<float> memory(40), seen(40, 1), actions(40, 9);
    policy.act(seen, actions, {}, memory);
    CHECK(memory == std::vector<float>(40, 0.5f));
    CHECK(actions == std::vector<float>(40, 0));
    policy.forget(memory, 39);
    policy.sample(seen, actions, {}, memory);
    CHECK(memory[38] == 0.75f);
    CHECK(memory[39] == 0.5f);
    // Small against the third score, which does not change.
    std::fill(seen.begin(), seen.end(), 0.0f);
    for (int step = 0; step < 4; ++step) policy.act(seen, actions, {}, memory);
    CHECK(actions == std::vector<float>(40, 2));

    memory.assign(40, 0.25f);
    const auto refused = [&](size_t numbers, float first = 0) {
        seen[0] = first;
        return complaint([&] { policy.act(seen, actions, {}, std::span(memory).first(numbers)); });
    };
    CHECK(refused(39) == "Policy::act: 'pilot' remembers 1 numbers of each row, 40 in all; there "
                         "is memory for 39 (memory is 0 where an episode begins)");
    CHECK(contains(refused(0), "there is memory for 0"));
    CHECK(contains(refused(40, NAN), "is not finite"));
    CHECK(memory == std::vector<float>(40, 0.25f));
    CHECK(complaint([&] { policy.forget(memory, 40); }) ==
          "Policy::forget: there is no row 40 in memory of 40 numbers (a row of 'pilot' has 1)");
    const SavedRun other;
    other.save(10, true);
    CHECK(complaint([&] {
              Policy(other.path())
                  .act(std::vector<float>{1, 2}, std::span(actions).first(2), {},
                       std::span(memory).first(1));
          }) == "Policy::act: 'pilot' remembers nothing from step to step");
    CHECK(complaint([&] { Policy(other.path()).forget(memory, 0); }) ==
          "Policy::forget: 'pilot' remembers nothing from step to step");
}

TEST_CASE("from C, too, memory lies with the caller") {
    const SavedRun run(Json{{"pilot", remembering_pilot()}});
    run.save(10, true, tensors_of("hand.pilot.policy.weights", remembering_weights));
    nacelle_trained_policy* const policy =
        nacelle_policy_open(run.path().c_str(), nullptr, nullptr);
    REQUIRE(policy);
    REQUIRE(nacelle_policy_memory(policy) == 1);
    CHECK(nacelle_policy_memory(nullptr) == 0);
    const float seen[] = {1, 1};
    float actions[2], memory[2] = {0, 0};
    CHECK(nacelle_policy_act_remembering(policy, 2, seen, nullptr, memory, actions) == 0);
    CHECK(memory[1] == 0.5f);
    nacelle_policy_forget(policy, memory, 1);
    CHECK(nacelle_policy_sample_remembering(policy, 2, seen, nullptr, memory, actions) == 0);
    CHECK(memory[0] == 0.75f);
    CHECK(memory[1] == 0.5f);
    CHECK(nacelle_policy_act(policy, 2, seen, nullptr, actions) != 0);
    CHECK(contains(nacelle_policy_error(), "there is memory for 0"));
    nacelle_policy_close(policy);
}

TEST_CASE("an exported file is opened as a run is") {
    const SavedRun run;
    run.save(10, true);
    const Folder folder;
    const auto file =
        folder.write("pilot.onnx", exported(open_policy(checkpoint_at(run.path(), "best"), ""),
                                            PolicyFormat::onnx, ""));
    CHECK(acted(Policy(file, "pilot"), {1, 2}) == acted(Policy(run.path()), {1, 2}));
    CHECK(Policy::names(file) == std::vector<std::string>{"pilot"});
    CHECK(refused_opening(file, "copilot") ==
          file.string() + ": has no policy 'copilot' (there is: pilot)");
    CHECK(refused_opening(file, "", "latest") ==
          file.string() + ": is one policy; 'latest' is chosen of a run's directory");
}

TEST_CASE("what is no policy is refused with what to name instead") {
    const SavedRun run;
    const std::string instead =
        " (name a run's directory, such as runs/cartpole-1, or a checkpoint's .json)";
    const std::string path = run.path().string();
    CHECK(refused_opening(path + "/nowhere") == path + "/nowhere: does not exist" + instead);
    CHECK(refused_opening(path + "/checkpoints") ==
          path + "/checkpoints: holds no run: it has no folder 'checkpoints'" + instead);
    CHECK(refused_opening(path) ==
          path + ": has no checkpoint yet ('nacelle resume' goes on with the run)");
    run.save(10, false);
    CHECK(refused_opening(path, "", "11") ==
          path + ": has no checkpoint '11' (there is: best, latest, 10)");
    CHECK(refused_opening(path, "copilot") ==
          run.checkpoints().of_steps(10).string() + ": has no policy 'copilot' (there is: pilot)");
    std::filesystem::path file = run.checkpoints().of_steps(10);
    CHECK(refused_opening(file, "", "latest") ==
          file.string() + ": is one checkpoint; 'latest' is chosen of a run's directory");
    file.replace_extension(".safetensors");
    CHECK(refused_opening(file) == file.string() + ": is a checkpoint's arrays alone (name the "
                                                   ".json beside it, which says what they are)");
    std::string bytes = read_file(file);
    bytes.back() = char(bytes.back() ^ 1);
    write_file(file, bytes);
    CHECK(contains(refused_opening(path), "is damaged: its checksum is another one"));
    std::filesystem::remove(file);
    CHECK(contains(refused_opening(path), ".safetensors: does not exist"));
}

TEST_CASE("a team's policy is asked for by its name") {
    const SavedRun run(Json{{"pilot", gears_and_push()}, {"mate", gears_and_push()}});
    run.save(10, true);
    CHECK(refused_opening(run.path()) ==
          run.checkpoints().best().string() +
              ": has 2 policies, and none was named (there is: mate, pilot)");
    CHECK(Policy(run.path(), "mate").name() == "mate");
    CHECK(Policy::names(run.path()) == std::vector<std::string>{"mate", "pilot"});
}

TEST_CASE("a checkpoint that cannot act alone says why") {
    const Json pilot = {{"pilot", gears_and_push()}};
    const std::string name = "hand.pilot.policy.weights";
    const std::string good = tensors_of(name, gears_and_push_weights());
    CHECK(refused_content(nullptr, good) ==
          "does not say how its policies act: an earlier version wrote it, or its learner 'hand' "
          "does not tell ('nacelle resume' with a larger run.total_steps saves one that does; a "
          "learner tells it by policies())");
    CHECK(refused_content(Json::object(), good) == "has no policy");
    // It becomes the name of a file.
    for (const char* const name : {"a/../../b", "a.b", "", "a\nb"})
        CHECK(contains(refused_content({{name, pilot}}, good), "is no name of a policy"));
    CHECK(refused_content(pilot, tensors_of("other", {1})) == "is damaged: it has no " + name);
    CHECK(refused_content(pilot, tensors_of(name, {1, 2})) ==
          "is damaged: its " + name.substr(5) + " has 2 numbers; the policy needs 15");
    std::vector<float> failed = gears_and_push_weights();
    failed[3] = NAN;
    CHECK(refused_content(pilot, tensors_of(name, failed)) ==
          "its pilot.policy.weights has numbers that are not finite: training failed");
    CHECK(refused_content(
              pilot, safetensors_of({{.name = name, .dtype = Dtype::f64, .shape = {15}}},
                                    [](size_t, void* to) {
                                        std::fill_n(static_cast<double*>(to), 15, 0.0);
                                    })) == "its " + name + " is f64 [15]; a policy acts with f32");
}

TEST_CASE(
    "rows that do not fit and numbers that are not finite are refused, and nothing is written") {
    const SavedRun run;
    run.save(10, true);
    const Policy policy(run.path());
    std::vector<float> actions(4, 9);
    const auto refused_act = [&](std::vector<float> seen, size_t room,
                                 std::vector<uint8_t> masks = {}) {
        return complaint([&] { policy.act(seen, std::span(actions).first(room), masks); });
    };
    CHECK(refused_act({1, 2, 3}, 2) == "Policy::act: 3 numbers are no whole rows of observations "
                                       "(a row of 'pilot' has 2)");
    CHECK(refused_act({1, 2, 3, 4}, 3) == "Policy::act: 2 rows need room for 4 numbers, 2 a row; "
                                          "there is room for 3");
    CHECK(refused_act({1, 2, 3, 4}, 4, {1, 1, 1}) ==
          "Policy::act: a mask has 3 bytes a row, 6 in all; there are 3");
    CHECK(refused_act({1, 2, 3, NAN}, 4) ==
          "Policy::act: number 1 of row 1 of the observations is not finite");
    CHECK(refused_act({1, INFINITY, 3, 4}, 4) ==
          "Policy::act: number 1 of row 0 of the observations is not finite");
    CHECK(actions == std::vector<float>(4, 9));
    Json push = gears_and_push();
    push["actions"].erase(0);
    const SavedRun other(Json{{"pilot", push}});
    other.save(10, true);
    CHECK(complaint([&] {
              Policy(other.path())
                  .act(std::vector<float>{1, 2}, std::span(actions).first(1),
                       std::vector<uint8_t>{1});
          }) == "Policy::act: 'pilot' has no choices that a mask could forbid");
}

TEST_CASE("from C what fails is a number and a text") {
    CHECK(nacelle_policy_open("/no/such/run", nullptr, nullptr) == nullptr);
    CHECK(contains(nacelle_policy_error(), "/no/such/run: does not exist"));
    CHECK(nacelle_policy_open(nullptr, nullptr, nullptr) == nullptr);
    const SavedRun run;
    run.save(10, true);
    nacelle_trained_policy* const policy =
        nacelle_policy_open(run.path().c_str(), "pilot", nullptr);
    REQUIRE(policy);
    const float seen[] = {1, 2, NAN, 0};
    float actions[] = {9, 9, 9, 9};
    CHECK(nacelle_policy_act(policy, 2, seen, nullptr, actions) != 0);
    CHECK(std::string(nacelle_policy_error()) ==
          "Policy::act: number 0 of row 1 of the observations is not finite");
    CHECK(nacelle_policy_act(policy, 1, seen, nullptr, nullptr) != 0);
    CHECK(contains(nacelle_policy_error(), "the memory of the actions is null"));
    CHECK(nacelle_policy_act(nullptr, 1, seen, nullptr, actions) != 0);
    CHECK(nacelle_policy_inputs(nullptr) == 0);
    const uint8_t mask[] = {1, 0, 1};
    CHECK(nacelle_policy_act(policy, 1, seen, mask, actions) == 0);
    CHECK(actions[0] == 0);
    CHECK(actions[1] == 1.75f);
    CHECK(nacelle_policy_act(policy, 0, nullptr, nullptr, nullptr) == 0);
    nacelle_policy_close(policy);
    nacelle_policy_close(nullptr);
}
