#include "algorithms/common/networks.h"
#include "engine/env/policy_settings.h"
#include "tests/algorithms/told.h"

#include <doctest/doctest.h>

// When a rollout keeps what is observed in bf16.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// What a learner makes of a configuration: "f32", "bf16", or a refusal.
std::string kept_by(const char* source, const std::string& config, const Json& constants = {},
                    bool on_gpu = true, bool external = false) {
    Json env = {{"source", source}, {"count", 4}};
    if (!constants.is_null()) env["constants"] = constants;
    Environment environment(cpu(1), settings_of(env, 1));
    Told told(environment, 90);
    told.environment.on_gpu = on_gpu;
    if (std::string(source) == "connect_four") told.has_blocks(64, 2, 27000);
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
