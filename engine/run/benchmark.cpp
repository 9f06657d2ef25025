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
    row.rate = spread_of(std::move(rates));
    env.check_finite();
    for (const NamedArray& array : env.arrays().all()) {
        if (array.role() != Role::obs || array.dtype() != Dtype::f32) continue;
        for (const float value : array.host<float>()) {
            uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            row.checksum = (row.checksum ^ bits) * 0x100000001b3ull;
        }
    }
}

BenchmarkRow begin_row(Environment& env, const char* kind, uint32_t steps) {
    BenchmarkRow row;
    row.environment = env.name();
    row.kind = kind;
    row.envs = env.count();
    row.agents = env.schema().header().agents;
    row.steps = steps;
    return row;
}

double bytes_of(const Field& field) {
    return double(field.count) * double(dtype_size(field.dtype));
}

}

Spread spread_of(std::vector<double> rates) {
    if (rates.empty()) return {};
    std::sort(rates.begin(), rates.end());
    return {rates[rates.size() / 2], rates.front(), rates.back()};
}

BenchmarkRow measure_steps(Environment& env, const BenchmarkSettings& settings) {
    BenchmarkRow row = begin_row(env, "step", settings.graph_steps);
    for (const Field& field : env.schema().fields()) {
        if (field.slot < 0) continue;
        const std::string_view name = field.name;
        const bool both = field.role == Role::state || name == "episode.length" ||
                          name.ends_with("episode.return") || field.role == Role::terminated ||
                          field.role == Role::truncated || field.role == Role::agent ||
                          field.role == Role::turn;
        const bool once = field.role == Role::obs || field.role == Role::action ||
                          field.role == Role::reward || field.role == Role::mask ||
                          field.role == Role::global || field.role == Role::param ||
                          field.role == Role::ended;
        const double rows =
            field.per == Per::row ? env.schema().header().group[field.group].count : 1;
        row.bytes_per_step += rows * (both ? 2 : once ? 1 : 0) * bytes_of(field);
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
    const std::shared_ptr<Device> device = env.on().device;
    RandomRolloutArgs args{.ahead = 0, .steps = settings.rollout_steps, .group = {}};
    std::vector<Buffer> recorded;
    const auto record = [&](size_t bytes) {
        recorded.emplace_back(device, bytes);
        return recorded.back().data();
    };
    double images = 0, wanted = 0;
    for (const Field& field : env.schema().fields())
        if (field.role == Role::obs && field.kind == Kind::array)
            images += bytes_of(field) * header.group[field.group].count;
    row.bytes_per_step = images;
    for (uint32_t g = 0; g < header.groups; ++g) {
        const Group& group = header.group[g];
        const double bytes = group.count * (4.0 * group.obs_width + 5 + 4.0 * group.action_parts);
        row.bytes_per_step += bytes;
        wanted += bytes * env.count() * settings.rollout_steps;
    }
    if (wanted > double(device->memory_free()))
        throw Error("bench",
                    "recording " + std::to_string(settings.rollout_steps) + " steps of " +
                        std::to_string(env.count()) + " environments takes " +
                        std::to_string(uint64_t(wanted)) + " bytes",
                    "take fewer environments or steps");
    for (uint32_t g = 0; g < header.groups; ++g) {
        const Group& group = header.group[g];
        const size_t samples = size_t(env.count()) * group.count * settings.rollout_steps;
        args.group[g] = {.obs = static_cast<float*>(record(samples * group.obs_width * 4)),
                         .reward = static_cast<float*>(record(samples * 4)),
                         .ended = static_cast<uint8_t*>(record(samples)),
                         .action = static_cast<int32_t*>(record(samples * group.action_parts * 4))};
    }
    Program& program = env.programs().add(
        {.instantiation =
             "#include <nacelle/programs/random_rollout.h>\nNACELLE_RANDOM_ROLLOUT()\n",
         .headers = {},
         .defines = {}});
    const Kernel kernel = program.kernel("nacelle_random_rollout");
    row.registers = kernel.registers;
    row.local_bytes = kernel.local_bytes;
    repeat(env, row, settings.repetitions, [&] {
        env.launch(kernel, env.shape_of(env.count()), args_of(args));
        env.record_ticks(settings.rollout_steps);
    });
    return row;
}

}
