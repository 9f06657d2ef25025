#include "algorithms/policy_gradient/plan/networks.h"
#include "engine/env/policy_settings.h"
#include "tests/algorithms/lesson.h"
#include "tests/algorithms/told.h"

#include <doctest/doctest.h>

// When a rollout keeps what is observed in bf16.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// What a learner makes of a configuration: "f32", "bf16", or a refusal.
std::string kept_by(const std::string& source, const std::string& config,
                    const Json& constants = {}, bool on_gpu = true, bool external = false) {
    Json env = env_of(source, 4);
    if (!constants.is_null()) env["constants"] = constants;
    Environment environment(cpu(1), settings_of(env, 1));
    Told told(environment, 90);
    told.environment.on_gpu = on_gpu;
    if (source == "connect_four") told.has_blocks(64, 2, 27000);
    const learn::Algorithm ppo{"ppo", true, 128, 4, 4, 1e-3, 0.01, external};
    try {
        return learn::read_settings(ppo, config, told.environment).keeps_pairs ? "bf16" : "f32";
    } catch (const std::exception& error) {
        return error.what();
    }
}
std::string asked(const std::string& policy) {
    return R"({"kept_observations": "bf16", "policies": {"default": )" + policy + "}}";
}
const Json few = {{"observe_all", false}}, many = {{"taggers", 104}};
const std::string otherwise = "; \"f32\" is for all, and so is \"auto\"";
// Numbers of a board of 11 by 11, and its choices.
const Json board = {{"sights", 242}, {"pushes", 121}};

}

TEST_CASE("observations of many numbers are kept in bf16 where networks compute in it") {
    CHECK(kept_by("tag_gridworld", "{}", many) == "bf16");
    CHECK(kept_by("tag_gridworld", R"({"kept_observations": "f32"})", many) == "f32");
    CHECK(kept_by("tag_gridworld", R"({"policies": {"runner": {"train": "random"}}})", many) ==
          "bf16");
    CHECK(kept_by("tag_gridworld", "{}", few) == "f32");
    CHECK(kept_by("tag_gridworld", asked("{}"), few) == "bf16");
    CHECK(kept_by("tag_gridworld", "{}", many, false) == "f32");
    CHECK(kept_by("rooms", "{}") == "f32");
    CHECK(kept_by("tag_gridworld", R"({"policies": {"runner": {"precision": "f32"}}})", many) ==
          "f32");
}

TEST_CASE("a fused network with so many outputs that pairs have no room keeps floats") {
    const std::string of_32 = R"("hidden": [32], "execution": )", in_one = of_32 + "\"fused\"",
                      streamed = of_32 + "\"streamed\"";
    CHECK(kept_by("crowd", R"({"policies": {"default": {)" + in_one + "}}}", board) == "f32");
    CHECK(kept_by("crowd", asked("{" + in_one + "}"), board) ==
          "kept_observations: pairs of policy 'agent' have no room beside so wide a layer; "
          "execution \"streamed\" takes them" +
              otherwise);
    CHECK(kept_by("crowd", asked("{" + streamed + "}"), board) == "bf16");
    CHECK(kept_by("crowd", R"({"policies": {"default": {)" + in_one + "}}}", {{"sights", 242}}) ==
          "bf16");
}

TEST_CASE("observations in bf16 are refused with what cannot have them") {
    CHECK(kept_by("tag_gridworld", asked(R"({"precision": "f32"})"), many) ==
          "kept_observations: policy 'tagger' computes in f32" + otherwise);
    CHECK(kept_by("tag_gridworld", asked("{}"), many, false) ==
          "kept_observations: a CPU computes in f32" + otherwise);
    CHECK(kept_by("tag_gridworld", asked("{}"), many, true, true) ==
          "kept_observations: this learner's networks read floats" + otherwise);
    CHECK(kept_by("rooms", asked("{}")) ==
          "kept_observations: images are kept as they are" + otherwise);
    CHECK(kept_by("connect_four", asked(R"({"opponents": {}})")) ==
          "kept_observations: members of the pool of 'agent' normalise what they see by numbers "
          "of their own" +
              otherwise);
    CHECK(kept_by("tag_gridworld", R"({"kept_observations": "f16"})", many) ==
          "kept_observations: there is no 'f16' (there is: auto, f32, bf16)");
}
