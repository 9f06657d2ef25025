#include "engine/base/files.h"
#include "engine/env/policy_settings.h"
#include "tests/algorithms/told.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <regex>

// How a CPU takes the steps of a rollout, and what its threads have at least.
using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Form {
    bool in_steps = false, in_blocks = false;
    std::string texts;

    bool has(const char* text) const { return texts.find(text) != std::string::npos; }
};
Form form_of(const char* name, uint32_t envs, const Json& constants, const char* config = "{}") {
    const std::filesystem::path author = env_folder / (std::string(name) + ".cu");
    Environment env(
        cpu(1),
        settings_of({{"source", author.string()}, {"count", 4}, {"constants", constants}}, 1));
    Told told(env, 0);
    told.environment.on_gpu = 0;
    told.environment.envs = envs;
    const Understood learner({"a2c", false, 8, 1, 1, 1e-3, 0.01}, config, told);
    const learn::Rollout rollout = learner.plan.run.rollout;
    Form form{rollout == learn::Rollout::steps, rollout == learn::Rollout::blocks, ""};
    for (const std::string& text : learn::program_texts(learner.settings, learner.plan))
        form.texts += text;
    return form;
}

}

TEST_CASE("a CPU chooses for several small teams at once, and takes others through all steps") {
    const Json none = Json::object();
    const auto tag = [](int taggers, uint32_t envs) {
        return form_of("tag_gridworld", envs, {{"taggers", taggers}, {"observe_all", 0}});
    };
    for (const auto& [taggers, envs] : {std::pair{4, 4u}, {4, 4096u}, {30, 64u}}) {
        const Form form = tag(taggers, envs);
        CHECK(form.in_steps);
        CHECK(!form.in_blocks);
        CHECK(form.has("step_once"));
        CHECK(!form.has("rollout_blocks"));
    }
    // A team that is alone, nearly, and one that has rows enough.
    for (const auto& [taggers, envs] : {std::pair{4, 1u}, {4, 3u}, {31, 64u}, {104, 64u}}) {
        const Form form = tag(taggers, envs);
        CHECK(form.in_blocks);
        CHECK(!form.in_steps);
        CHECK(form.has("LEARN_KERNEL(rollout_blocks, Arguments, 1, 1,"));
    }
    CHECK(form_of("cartpole", 4096, none).has("LEARN_KERNEL(rollout_blocks, Arguments, 32, 1,"));
    CHECK(form_of("cartpole", 4096, none, R"({"rollout": "stepwise"})").in_steps);
}
TEST_CASE("a CPU's threads share out few rows where these go through networks") {
    const Json none = Json::object();
    const Form four = form_of("connect_four", 64, none);    // two rows each
    CHECK(four.has("LEARN_KERNEL(choose_0, Arguments, 8, 1,"));
    CHECK(four.has("LEARN_KERNEL(close_rollout_0, Arguments, 8, 1,"));
    CHECK(four.has("LEARN_KERNEL(act_0, Arguments, 16, 1,"));
    const Form pole = form_of("cartpole", 64, none, R"({"rollout": "stepwise"})");
    CHECK(pole.has("LEARN_KERNEL(choose_0, Arguments, 16, 1,"));
    const Form tag = form_of("tag_gridworld", 64, {{"taggers", 104}, {"observe_all", 0}});
    CHECK(tag.has("LEARN_KERNEL(close_rollout_0, Arguments, 1, 1,"));
}

TEST_CASE("PPO on one screen names every rollout, and kernels that there are") {
    const std::string page = read_file(source_path("algorithms/README.md"));
    const size_t begin = page.find("### PPO on one screen");
    const std::string screen = page.substr(begin, page.find("## Formulas") - begin);
    for (int way = 0; way <= int(learn::Rollout::resident_teams); ++way) {
        const learn::KernelName kernel = learn::rollout_kernel(learn::Rollout(way));
        const std::string name(learn::kernel_table[kernel.row].name);
        CHECK_MESSAGE(screen.find(name) != std::string::npos, name);
    }
    const std::regex word("[a-z]+_[a-z0-9_]+");
    const std::string lines = screen.substr(screen.find("```text"));
    for (std::sregex_iterator each(lines.begin(), lines.end(), word), end; each != end; ++each)
        CHECK_MESSAGE(std::ranges::any_of(
                          learn::kernel_table,
                          [&](const learn::Kernel& kernel) { return kernel.name == each->str(); }),
                      each->str());
}
