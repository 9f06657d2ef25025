#include "engine/env/policy_settings.h"
#include "tests/algorithms/told.h"

#include <doctest/doctest.h>

// Which kernel adds up what a group observes on a GPU.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// Of tag on a grid, whose teams of two policies are one group.
bool is_measured(int taggers, const char* config) {
    const std::filesystem::path author = env_folder / "tag_gridworld.cu";
    Environment env(
        cpu(1),
        settings_of(
            {{"source", author.string()}, {"count", 4}, {"constants", {{"taggers", taggers}}}}, 1));
    Told told(env, 90);
    const Understood learner({"a2c", false, 8, 1, 1, 1e-3, 0.01}, config, told);
    const learn::Plan& plan = learner.plan;
    bool found = false;
    for (const std::string& text : learn::program_texts(learner.settings, plan))
        found |= text.find("measure_observations") != std::string::npos;
    uint32_t slots = 0;
    for (const learn::PolicyPlan& policy : plan.policies) {
        CHECK(policy.sums_seen() == !found);
        if (!found) CHECK(policy.choosers.first == slots);
        slots += policy.choosers.count;
    }
    CHECK(plan.groups[0].choosers.count == slots);
    return found;
}

}

TEST_CASE("what many numbers come to is added up where all policies of a group choose") {
    CHECK(!is_measured(104, R"({"policies": {"default": {"hidden": [32, 32]}}})"));
    // One of the policies acts at random; layers go through memory; rows of few numbers.
    CHECK(is_measured(
        104, R"({"policies": {"tagger": {"hidden": [32, 32]}, "runner": {"train": "random"}}})"));
    CHECK(is_measured(104, R"({"policies": {"default": {"hidden": [256, 256]}}})"));
    CHECK(is_measured(4, R"({"policies": {"default": {"hidden": [32, 32]}}})"));
}
