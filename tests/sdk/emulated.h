#pragma once
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

// A GPU's code path, emulated, beside the same environments on the path of a CPU.
namespace nacelle::test {

inline constexpr const char* both_programs = R"(#include <nacelle/programs/random_rollout.h>
#include <nacelle/programs/stepwise.h>
NACELLE_STEPWISE()
NACELLE_ENV_KERNEL(nacelle_random_rollout, nacelle::RandomRolloutArgs, nacelle::detail::random_rollout_body)
)";

// What each of several steps began with and led to, for the rows of one group.
struct Record {
    std::vector<float> obs, reward;
    std::vector<uint8_t> ended;    // 1 terminated, 2 truncated
    std::vector<int32_t> action;
};
using Records = std::vector<Record>;

// The name of a group's array: "obs", or "prey.obs" where there are several groups.
inline std::string array_of(Environment& env, uint32_t group, const std::string& part) {
    const Header& header = env.schema().header();
    return header.groups > 1 ? std::string(header.group[group].name) + "." + part : part;
}

// What a step led to, as the arrays show it.
inline void see_step(Environment& env, Records& records) {
    const Header& header = env.schema().header();
    const std::vector<double> terminated = numbers(env, "terminated"),
                              truncated = numbers(env, "truncated");
    for (uint32_t g = 0; g < header.groups; ++g) {
        Record& record = records[g];
        const auto reward = env.arrays()[array_of(env, g, "reward")].host<float>();
        record.reward.insert(record.reward.end(), reward.begin(), reward.end());
        const size_t agents = header.group[g].count;
        std::vector<double> out(reward.size());
        if (header.group[g].has_turn) out = numbers(env, array_of(env, g, "ended"));
        for (size_t row = 0; row < reward.size(); ++row) {
            const size_t at = row / agents;
            record.ended.push_back(truncated[at] != 0 ? 2 : terminated[at] + out[row] > 0 ? 1 : 0);
        }
    }
}
inline Records single_steps(Environment& env, uint32_t steps) {
    const Header& header = env.schema().header();
    Records records(header.groups);
    for (uint32_t t = 0; t < steps; ++t) {
        for (uint32_t g = 0; g < header.groups; ++g) {
            if (!header.group[g].obs_width) continue;
            const auto obs = env.arrays()[array_of(env, g, "obs")].host<float>();
            records[g].obs.insert(records[g].obs.end(), obs.begin(), obs.end());
        }
        env.step_at_random();
        see_step(env, records);
    }
    return records;
}
// The first place where two records differ, or an empty text. An agent that goes out in the very step
// that cuts its episode off has terminated, which the arrays of single steps do not tell apart.
inline std::string record_difference(Environment& env, const Records& single, const Records& many) {
    const Header& header = env.schema().header();
    for (uint32_t g = 0; g < header.groups; ++g) {
        const Record &a = single[g], &b = many[g];
        const size_t rows = size_t(env.count()) * header.group[g].count,
                     width = header.group[g].obs_width;
        const auto place = [&](const char* part, size_t at) {
            return array_of(env, g, part) + " of row " + std::to_string(at % rows) + " in step " +
                   std::to_string(at / rows);
        };
        for (size_t i = 0; i < a.obs.size(); ++i)
            if (std::memcmp(&a.obs[i], &b.obs[i], sizeof(float)) != 0)
                return place("obs", i / width) + ", column " + std::to_string(i % width) + ": " +
                       std::to_string(a.obs[i]) + " and " + std::to_string(b.obs[i]);
        for (size_t i = 0; i < a.reward.size(); ++i)
            if (std::memcmp(&a.reward[i], &b.reward[i], sizeof(float)) != 0)
                return place("reward", i);
        for (size_t i = 0; i < a.ended.size(); ++i)
            if (a.ended[i] != b.ended[i] &&
                !(header.group[g].has_turn && a.ended[i] == 2 && b.ended[i] == 1))
                return place("ended", i);
    }
    return {};
}

// Many steps in one launch, everything recorded.
inline Records record_steps(Environment& env, const Kernel& kernel, const LaunchShape& shape,
                            uint32_t steps) {
    const Header& header = env.schema().header();
    Records records(header.groups);
    RandomRolloutArgs args{.ahead = 0, .steps = steps, .group = {}};
    for (uint32_t g = 0; g < header.groups; ++g) {
        const Group& group = header.group[g];
        const size_t rows = size_t(steps) * env.count() * group.count;
        records[g] = {std::vector<float>(rows * group.obs_width), std::vector<float>(rows),
                      std::vector<uint8_t>(rows), std::vector<int32_t>(rows * group.action_parts)};
        args.group[g] = {.obs = records[g].obs.data(),
                         .reward = records[g].reward.data(),
                         .ended = records[g].ended.data(),
                         .action = records[g].action.data()};
    }
    env.launch(kernel, shape, args_of(args));
    env.record_ticks(steps);
    env.on().stream->synchronize();
    return records;
}

// The kernels of a GPU around an environment's arrays. `lanes`: threads for each team, 0 for as many
// as the environment takes by itself.
class Emulated final {
public:
    explicit Emulated(Environment& env, int lanes = 0)
        : env_(env),
          program_(env.programs().add(
              {.instantiation = both_programs, .headers = {}, .defines = defines(lanes)})),
          step_(program_.kernel("nacelle_step")),
          steps_(program_.kernel("nacelle_random_rollout")),
          reset_(program_.kernel("nacelle_reset")) {}

    void step_at_random() {
        const StepArgs args{.ahead = 0, .draw = true, .copies = nullptr};
        env_.launch(step_, over(env_.count()), args_of(args));
        env_.record_ticks(1);
    }
    // A GPU keeps the state in registers or shared memory between them.
    Records steps_at_random(uint32_t steps) {
        return record_steps(env_, steps_, over(env_.count()), steps);
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
    static std::vector<std::string> defines(int lanes) {
        std::vector<std::string> list = {"NACELLE_EMULATE"};
        if (lanes) list.push_back("NACELLE_TEAM_LANES=" + std::to_string(lanes));
        return list;
    }
    LaunchShape over(uint64_t items) const {
        return env_shape(program_.schema().header(), items, env_.count());
    }

    Environment& env_;
    Program& program_;
    Kernel step_, steps_, reset_;
};

// The code of a GPU on threads, `lanes` for a team.
inline Environment on_threads(const EnvSettings& settings, int lanes) {
    return Environment(cpu_for(Variant::emulated(lanes)), settings);
}
// The same where a sort moves the members, as in large teams.
inline Environment moving(const EnvSettings& settings, int lanes) {
    Variant variant = Variant::emulated(lanes);
    variant.defines.emplace_back("NACELLE_MOVES");
    return Environment(cpu_for(variant), settings);
}

// `rounds` of steps one by one and in one launch, with resets between, by both paths: the same bytes
// in every array and in every record after each round.
struct Course {
    int rounds = 8;
    uint32_t alone = 4, together = 21;
    int lanes = 0;
};
inline void compare_with_emulation(EnvSettings settings, uint32_t count, Course course) {
    settings.count = count;
    const auto on = quick_cpu(1);
    Environment plain(on, settings), emulated(on, settings);
    Emulated gpu(emulated, course.lanes);
#ifdef NACELLE_SANITIZE
    // A sanitizer makes each of the many threads dear; the plain build goes the whole way. With no
    // time limit to start close to, an episode needs the steps that its rules ask for.
    course.rounds = 3;
    course.alone = 1;
    if (plain.schema().header().time_limit > 0) course.together = 3;
#endif
    // Near the limit, so that every environment meets it, each at a step of its own.
    std::vector<double> nearly(count);
    const double limit = plain.schema().header().time_limit,
                 steps = course.rounds * (course.alone + course.together);
    for (uint32_t i = 0; i < count; ++i)
        nearly[i] = std::max(0.0, limit - 2 - i % std::max(1, int(0.75 * steps)));
    for (Environment* env : {&plain, &emulated}) write_numbers(*env, "episode.length", nearly);
    std::vector<uint32_t> half;
    for (uint32_t i = 0; i < (count + 1) / 2; ++i) half.push_back(i);

    for (int round = 0; round < course.rounds; ++round) {
        for (uint32_t t = 0; t < course.alone; ++t) plain.step_at_random();
        for (uint32_t t = 0; t < course.alone; ++t) gpu.step_at_random();
        const Records single = single_steps(plain, course.together),
                      many = gpu.steps_at_random(course.together);
        CAPTURE(round);
        CHECK(record_difference(plain, single, many) == "");
        REQUIRE(first_difference(plain, emulated) == "");
        if (round % 3 != 2) continue;
        plain.reset(half);
        gpu.reset(uint32_t(half.size()));
        REQUIRE(first_difference(plain, emulated) == "");
    }
    plain.check_finite();
    CHECK(plain.take_totals().episodes > 0);
}

}
