#include "tests/env/authors.h"
#include "tests/env/workbench.h"
#include "tests/sdk/everything.h"

#include <cstring>
#include <doctest/doctest.h>

// A GPU's code path on threads of the host against a CPU's: the same bytes in every array. What a GPU
// does then differs from a CPU by its arithmetic alone.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr const char* both_programs = R"(#include <nacelle/programs/random_rollout.h>
#include <nacelle/programs/stepwise.h>
NACELLE_STEPWISE()
NACELLE_ENV_KERNEL(nacelle_random_rollout, nacelle::RandomRolloutArgs, nacelle::detail::random_rollout_body)
)";

// What each of several steps began with and led to.
struct Record {
    std::vector<float> obs, reward;
    std::vector<uint8_t> ended;

    bool operator==(const Record& other) const {
        return obs.size() == other.obs.size() && reward == other.reward && ended == other.ended &&
               std::memcmp(obs.data(), other.obs.data(), obs.size() * sizeof(float)) == 0;
    }
};

Record single_steps(Environment& env, uint32_t steps) {
    Record record;
    for (uint32_t t = 0; t < steps; ++t) {
        const std::vector<float> obs = env.arrays()["obs"].host<float>();
        env.step_at_random();
        const std::vector<float> reward = env.arrays()["reward"].host<float>();
        record.obs.insert(record.obs.end(), obs.begin(), obs.end());
        record.reward.insert(record.reward.end(), reward.begin(), reward.end());
        const std::vector<double> terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated");
        for (uint32_t i = 0; i < env.count(); ++i)
            record.ended.push_back(uint8_t(terminated[i] + 2 * truncated[i]));
    }
    return record;
}

class Emulated final {
public:
    explicit Emulated(Environment& env)
        : env_(env),
          program_(env.program(
              {.instantiation = both_programs, .headers = {}, .defines = {"NACELLE_EMULATE"}})),
          step_(program_.kernel("nacelle_step")),
          steps_(program_.kernel("nacelle_random_rollout")),
          reset_(program_.kernel("nacelle_reset")) {}

    void step_at_random() {
        const StepArgs args{.ahead = 0, .draw = 1};
        env_.launch(step_, over(env_.count()), args_of(args));
        env_.record_ticks(1);
    }
    // Many steps in one launch: a GPU keeps the state in registers between them.
    Record steps_at_random(uint32_t steps) {
        const size_t rows = size_t(steps) * env_.count();
        Record record{std::vector<float>(rows * env_.schema().header().group[0].obs_width),
                      std::vector<float>(rows), std::vector<uint8_t>(rows)};
        std::vector<int32_t> actions(rows * env_.schema().header().group[0].action_parts);
        const RandomRolloutArgs args{.ahead = 0,
                                     .steps = steps,
                                     .group = {{.obs = record.obs.data(),
                                                .reward = record.reward.data(),
                                                .ended = record.ended.data(),
                                                .action = actions.data()}}};
        env_.launch(steps_, over(env_.count()), args_of(args));
        env_.record_ticks(steps);
        return record;
    }
    void reset(uint32_t count) {
        const ResetArgs args{.form = ResetArgs::next_episode,
                             .ahead = 0,
                             .chosen = nullptr,
                             .count = count,
                             .places = 0,
                             .place = nullptr};
        env_.launch(reset_, over(count), args_of(args));
        env_.record_ticks(1);
    }

private:
    LaunchShape over(uint64_t items) const { return env_shape(program_.schema().header(), items); }

    Environment& env_;
    Program& program_;
    Kernel step_, steps_, reset_;
};

void compare(EnvSettings settings, uint32_t count) {
    settings.count = count;
    const auto on = cpu(1);
    Environment plain(on, settings), emulated(on, settings);
    Emulated gpu(emulated);
    // Near the limit, so that every environment meets it, each at a step of its own.
    std::vector<double> nearly(count);
    for (uint32_t i = 0; i < count; ++i)
        nearly[i] = std::max(0.0, double(plain.schema().header().time_limit) - 10 - i % 150);
    for (Environment* env : {&plain, &emulated}) write_numbers(*env, "episode.length", nearly);
    std::vector<uint32_t> half;
    for (uint32_t i = 0; i < (count + 1) / 2; ++i) half.push_back(i);

    for (int round = 0; round < 8; ++round) {
        constexpr uint32_t alone = 4, together = 21;    // 200 steps in all
        for (uint32_t t = 0; t < alone; ++t) plain.step_at_random();
        for (uint32_t t = 0; t < alone; ++t) gpu.step_at_random();
        const bool same_record = single_steps(plain, together) == gpu.steps_at_random(together);
        CAPTURE(round);
        CHECK(same_record);
        REQUIRE(first_difference(plain, emulated) == "");
        if (round % 3 != 2) continue;
        plain.reset(half);
        gpu.reset(uint32_t(half.size()));
        REQUIRE(first_difference(plain, emulated) == "");
    }
    CHECK(plain.take_totals().episodes > 0);
}

}

TEST_CASE("the code of a GPU, run on threads, leaves the same bytes as the code of a CPU") {
    for (const std::string& name : all_environments())
        for (const uint32_t count : {1u, 31u, 33u, 300u}) {
            CAPTURE(name);
            CAPTURE(count);
            compare(recommended(name, count), count);
        }
}

TEST_CASE("so it does for images, masks, arrays, logs and every type of number") {
    const Folder folder;
    const Json params = {{"gravity", {{"uniform", {1, 20}}}}, {"mass", {{"normal", {1, 0.1}}}}};
    compare(
        settings_of({{"source", folder.write("everything.cu", everything)}, {"params", params}}),
        33);
    compare(settings_of({{"source", folder.write("masked.cu", masked)}}), 140);
}
