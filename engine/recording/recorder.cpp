#include "engine/recording/recorder.h"

#include "engine/base/error.h"
#include "engine/config/describe.h"

#include <cstring>

namespace nacelle {
namespace {

constexpr size_t row_alignment = 64;

// The values of one parameter, the i-th at offset(i); floats as their author wrote them.
template <class Offset> Json param_json(const Field& field, const std::byte* from, Offset offset) {
    Json values = Json::array();
    for (size_t i = 0; i < field.count; ++i)
        values.push_back(read_number(field.dtype, from + offset(i)));
    if (field.dtype == Dtype::f32) values = short_floats(values);
    return field.rank ? values : values[0];
}

// The values of the Params that all environments share.
Json params_of(Environment& env) {
    Json params = Json::object();
    const std::byte* const from = env.view().data() + env.schema().header().params_offset;
    for (const Field* field : env.schema().params()) {
        if (field->kind == Kind::table) continue;
        params[field->name + std::strlen("param.")] =
            param_json(*field, from, [&](size_t i) { return offset_of(*field, i); });
    }
    return params;
}

}

Recorder::Recorder(Environment& env, RecordingWriter& writer, RecordSettings settings)
    : env_(env), writer_(writer), settings_(std::move(settings)) {
    const std::vector<RecordedArray>& wanted = writer.header().arrays;
    for (const Field& field : env.schema().fields()) {
        // A drawn parameter exists twice under one name: as a part of Params, and as an array.
        const std::optional<Moment> moment = moment_of(field);
        if (!moment) continue;
        std::optional<size_t> column;
        for (size_t i = 0; i < wanted.size(); ++i)
            if (wanted[i].name() == field.name) column = i;
        const bool tells = field.role == Role::reward || field.role == Role::terminated ||
                           field.role == Role::truncated || field.role == Role::param;
        if (!column && !tells) continue;
        const RecordedArray form = recorded_array(env.schema(), field, *moment);
        copied_.push_back({&env.arrays()[field.name], form, step_bytes_, column});
        step_bytes_ += (form.bytes() * settings_.environments.size() + row_alignment - 1) /
                       row_alignment * row_alignment;
    }
    for (const Copied& one : copied_) {
        if (one.form.field.role == Role::terminated) terminated_ = &one;
        if (one.form.field.role == Role::truncated) truncated_ = &one;
    }
    device_ = Buffer(env.on().device, step_bytes_ * (most_steps + 1));
    host_.resize(step_bytes_ * (most_steps + 1));
    for (const uint32_t which : settings_.environments)
        running_.push_back({.environment = which, .episode = {}});
}

void Recorder::begin(uint32_t envs, uint64_t each, uint64_t seed, std::optional<uint64_t> trained) {
    seed_ = seed;
    trained_ = trained;
    copy_to(0);
    tick_ = env_.tick();
    for (Running& running : running_) {
        running.left = each;
        running.active = running.environment < envs;
        running.waits = false;
        if (running.active) open_episode(running, tick_);
    }
}

void Recorder::begin_with_next(uint64_t seed, std::optional<uint64_t> trained) {
    begin(env_.count(), 0, seed, trained);
    for (Running& running : running_) running.waits = true;
}

void Recorder::reloaded() {
    for (Copied& one : copied_) one.array = &env_.arrays()[one.form.name()];
    copy_to(0);
}

void Recorder::put(uint32_t t) { copy_to(t + 1); }

// Copies the chosen environments into the memory of a step, in the layout of a batch of their own; neighbours in one
// copy.
void Recorder::copy_to(uint32_t place) {
    Stream& stream = *env_.on().stream;
    const std::vector<uint32_t>& chosen = settings_.environments;
    std::byte* const step = static_cast<std::byte*>(device_.data()) + place * step_bytes_;
    for (const Copied& one : copied_) {
        const Field& field = one.form.field;
        const bool together = field.layout == Layout::rows;
        const size_t pieces = together ? 1 : field.count, piece = one.form.bytes() / pieces;
        const auto* const from = static_cast<const std::byte*>(one.array->device());
        for (size_t first = 0, end = 0; first < chosen.size(); first = end) {
            for (end = first + 1; end < chosen.size() && chosen[end] == chosen[end - 1] + 1;) ++end;
            for (size_t k = 0; k < pieces; ++k)
                stream.copy(step + one.offset + (k * chosen.size() + first) * piece,
                            from + (k * env_.count() + chosen[first]) * piece,
                            (end - first) * piece);
        }
    }
}

void Recorder::take(uint32_t steps) {
    Stream& stream = *env_.on().stream;
    auto* const device = static_cast<std::byte*>(device_.data());
    stream.to_host(host_.data(), device, step_bytes_ * (steps + 1));
    // The position at which the next steps begin.
    stream.copy(device, device + steps * step_bytes_, step_bytes_);
    stream.synchronize();
    for (uint32_t t = 0; t < steps; ++t)
        take_step(host_.data() + t * step_bytes_, host_.data() + (t + 1) * step_bytes_);
}

void Recorder::take_step(const std::byte* before, const std::byte* after) {
    ++tick_;
    for (size_t i = 0; i < running_.size(); ++i)
        if (running_[i].active) follow(running_[i], i, before, after);
}

void Recorder::follow(Running& running, size_t which, const std::byte* before,
                      const std::byte* after) {
    if (running.waits) {
        running.waits = !is_set(terminated_, after, which) && !is_set(truncated_, after, which);
        if (!running.waits) open_episode(running, tick_);
        return;
    }
    if (running.episode.summary.steps == 0) take_drawn_params(running, which, before);
    size_t returns = 0;
    for (const Copied& one : copied_) {
        if (one.form.field.role == Role::reward) {
            const size_t count = returns_of(one.form);
            add_rewards(one, after, which,
                        std::span(running.episode.summary.returns).subspan(returns, count));
            returns += count;
        }
        if (!one.column || one.form.moment == Moment::end) continue;
        append(one, one.form.moment == Moment::before ? before : after, which,
               running.episode.columns[*one.column]);
    }
    ++running.episode.summary.steps;
    if (is_set(terminated_, after, which)) close_episode(running, which, "terminated", after);
    else if (is_set(truncated_, after, which)) close_episode(running, which, "truncated", after);
}

void Recorder::append(const Copied& copied, const std::byte* step, size_t which,
                      std::vector<std::byte>& to) const {
    const Field& field = copied.form.field;
    const size_t pieces = field.layout == Layout::rows ? 1 : field.count,
                 piece = copied.form.bytes() / pieces;
    for (size_t k = 0; k < pieces; ++k) {
        const std::byte* const from = step + copied.offset + (k * running_.size() + which) * piece;
        to.insert(to.end(), from, from + piece);
    }
}

void Recorder::add_rewards(const Copied& copied, const std::byte* step, size_t which,
                           std::span<double> returns) const {
    std::vector<std::byte> rewards;
    append(copied, step, which, rewards);
    const Dtype dtype = copied.form.field.dtype;
    const size_t unit = dtype_size(dtype), agents = rewards.size() / unit;
    for (size_t i = 0; i < agents; ++i) {
        const double reward = read_number(dtype, rewards.data() + i * unit);
        if (returns.size() == agents) returns[i] += reward;
        else returns[0] += reward / double(agents);
    }
}

// A parameter that is drawn at each reset has a value of the episode's own.
void Recorder::take_drawn_params(Running& running, size_t which, const std::byte* step) const {
    for (const Copied& one : copied_) {
        const Field& field = one.form.field;
        if (field.role != Role::param) continue;
        std::vector<std::byte> bytes;
        append(one, step, which, bytes);
        running.episode.summary.params[field.name + std::strlen("param.")] =
            param_json(field, bytes.data(), [&](size_t i) { return i * dtype_size(field.dtype); });
    }
}

bool Recorder::is_set(const Copied* copied, const std::byte* step, size_t which) const {
    return step[copied->offset + which] != std::byte(0);
}

void Recorder::open_episode(Running& running, uint64_t tick) {
    size_t returns = 0;
    for (const Copied& one : copied_)
        if (one.form.field.role == Role::reward) returns += returns_of(one.form);
    const EpisodeProgress progress = env_.progress();
    running.episode.summary = {.environment = running.environment,
                               .returns = std::vector<double>(returns),
                               .tick = tick,
                               .seed = seed_,
                               .progress_from = double(progress.from),
                               .progress_per_tick = double(progress.per_tick),
                               .params = params_of(env_),
                               .trained = trained_};
    running.episode.columns.assign(writer_.header().arrays.size(), {});
}

void Recorder::close_episode(Running& running, size_t which, const char* how,
                             const std::byte* after) {
    running.episode.summary.ended = how;
    for (const Copied& one : copied_)
        if (one.column && one.form.moment == Moment::end)
            append(one, after, which, running.episode.columns[*one.column]);
    writer_.add(running.episode);
    running.active = running.left == 0 || --running.left > 0;
    if (running.active) open_episode(running, tick_);
}

void Recorder::finish(bool cut) {
    for (Running& running : running_) {
        if (running.active && cut && running.episode.summary.steps > 0) {
            running.episode.summary.ended = "cut";
            writer_.add(running.episode);
        }
        running.active = false;
    }
}

}
