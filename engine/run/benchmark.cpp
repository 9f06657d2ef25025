#include "engine/run/benchmark.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

constexpr int warm_ups = 3;

// Times `work`, which advances all environments by `steps`, and fills the row.
void repeat(Environment& env, BenchmarkRow& row, int repetitions,
            const std::function<void()>& work) {
    Stream& stream = *env.on().stream;
    for (int i = 0; i < warm_ups; ++i) work();
    stream.synchronize();
    std::vector<double> rates;
    for (int i = 0; i < repetitions; ++i) {
        const double milliseconds = stream.time(work);
        rates.push_back(double(row.envs) * row.steps / (milliseconds * 1e-3));
        row.seconds += milliseconds * 1e-3;
    }
    std::sort(rates.begin(), rates.end());
    row.steps_per_second = rates[rates.size() / 2];
    row.slowest = rates.front();
    row.fastest = rates.back();
    env.check_finite();
    const std::vector<float> obs = env.arrays()["obs"].host<float>();
    for (const float value : obs) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        row.checksum = (row.checksum ^ bits) * 0x100000001b3ull;
    }
}

BenchmarkRow begin_row(Environment& env, const char* kind, uint32_t steps) {
    BenchmarkRow row;
    row.environment = env.name();
    row.kind = kind;
    row.envs = env.count();
    row.steps = steps;
    return row;
}

double bytes_of(const Field& field) {
    return double(field.count) * double(dtype_size(field.dtype));
}

}

BenchmarkRow measure_steps(Environment& env, const BenchmarkSettings& settings) {
    BenchmarkRow row = begin_row(env, "step", settings.graph_steps);
    for (const Field& field : env.schema().fields()) {
        if (field.slot < 0) continue;
        const std::string_view name = field.name;
        const bool both = field.role == Role::state || name == "episode.length" ||
                          name == "episode.return" || field.role == Role::terminated ||
                          field.role == Role::truncated;
        const bool once = field.role == Role::obs || field.role == Role::action ||
                          field.role == Role::reward || field.role == Role::mask ||
                          field.role == Role::global || field.role == Role::param;
        row.bytes_per_step += both ? 2 * bytes_of(field) : once ? bytes_of(field) : 0;
    }
    const Kernel step = env.stepwise().kernel("nacelle_step");
    row.registers = step.registers;
    row.local_bytes = step.local_bytes;
    Stream& stream = *env.on().stream;
    stream.begin_capture();
    for (uint32_t i = 0; i < settings.graph_steps; ++i) env.record_step(true, i);
    env.record_ticks(settings.graph_steps);
    const std::unique_ptr<Graph> graph = stream.end_capture();
    repeat(env, row, settings.repetitions, [&] { stream.replay(*graph); });
    return row;
}

BenchmarkRow measure_rollout(Environment& env, const BenchmarkSettings& settings) {
    BenchmarkRow row = begin_row(env, "rollout", settings.rollout_steps);
    const Header& header = env.schema().header();
    const size_t width = header.group[0].obs_width, parts = header.group[0].action_parts;
    size_t images = 0;
    for (const Field& field : env.schema().fields())
        if (field.role == Role::obs && field.kind == Kind::array) images += size_t(bytes_of(field));
    row.bytes_per_step = double(4 * width + 4 + 1 + 4 * parts + images);
    const size_t samples = size_t(env.count()) * settings.rollout_steps;
    const std::shared_ptr<Device> device = env.on().device;
    const size_t wanted = samples * (4 * width + 4 + 1 + 4 * parts);
    if (wanted > device->memory_free())
        throw Error("bench",
                    "recording " + std::to_string(settings.rollout_steps) + " steps of " +
                        std::to_string(env.count()) + " environments takes " +
                        std::to_string(wanted) + " bytes",
                    "take fewer environments or steps");
    const Buffer obs(device, samples * width * 4), reward(device, samples * 4),
        ended(device, samples), action(device, samples * parts * 4);
    Program& program =
        env.program({.instantiation =
                         "#include <nacelle/programs/random_rollout.h>\nNACELLE_RANDOM_ROLLOUT()\n",
                     .headers = {},
                     .defines = {}});
    const Kernel kernel = program.kernel("nacelle_random_rollout");
    row.registers = kernel.registers;
    row.local_bytes = kernel.local_bytes;
    const RandomRolloutArgs args{.ahead = 0,
                                 .steps = settings.rollout_steps,
                                 .obs = static_cast<float*>(obs.data()),
                                 .reward = static_cast<float*>(reward.data()),
                                 .ended = static_cast<uint8_t*>(ended.data()),
                                 .action = static_cast<int32_t*>(action.data())};
    repeat(env, row, settings.repetitions, [&] {
        env.launch(kernel, thread_each(env.count()), args_of(args));
        env.record_ticks(settings.rollout_steps);
    });
    return row;
}

}
