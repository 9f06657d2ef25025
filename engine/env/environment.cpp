#include "engine/env/environment.h"

#include "engine/base/error.h"

#include <cstring>
#include <sstream>

namespace nacelle {
namespace {

// Environments that a GPU steps at once: 12 blocks on a multiprocessor, at 40 registers a thread.
uint32_t resident(const DeviceInfo& device) {
    return device.backend == Backend::cuda ? uint32_t(device.processors) * 12 * kernel_block : 0;
}

std::string in_words(double bytes) {
    std::ostringstream text;
    text.precision(3);
    if (bytes >= 1e9) text << bytes / 1e9 << " GB";
    else if (bytes >= 1e6) text << bytes / 1e6 << " MB";
    else text << bytes << " bytes";
    return text.str();
}

}

Environment::Environment(std::shared_ptr<RunsOn> on, EnvSettings settings,
                         const std::function<void(Environment&)>& loaded)
    : Environment(compile_env(std::move(on), source_of(settings)), settings, loaded) {}

Environment::Environment(const EnvCode& code, EnvSettings settings,
                         const std::function<void(Environment&)>& loaded, const Environment* before)
    : on_(code.on),
      settings_(std::move(settings)),
      name_(code.schema.name()),
      code_(code),
      stepwise_(*on_, code.stepwise.get(), settings_.source.filename().string(), code.parts),
      params_(schema(), stepwise_.program.defaults(), settings_.where),
      view_(schema()),
      arrays_(settings_.source.stem().string()),
      pool_(name_),
      programs_(code_, view_) {
    for (const ParamEntry& entry : flatten_params(settings_.params)) {
        given_[entry.name] = entry.value;
        if (params_.field(entry.name).kind != Kind::table) params_.set(entry.name, entry.value);
    }
    allocate();
    if (before) tables_.share(before->tables_, before->schema(), schema());
    tables_.load(*on_, params_, settings_, name_);
    load_params();
    show_view();
    if (loaded) loaded(*this);
    prepare_tables();
    reset();
}

Environment::~Environment() {
    try {
        on_->stream->synchronize();
    } catch (const std::exception&) {
        // The device is lost: there is nothing to wait for.
    }
}

NamedArray Environment::array_of(const Field& field, size_t envs) {
    Buffer memory(on_->device, schema().elements(field, envs) * dtype_size(field.dtype));
    return NamedArray(field.name, field.dtype, schema().shape(field, envs), field.role, field.kept,
                      std::move(memory), *on_->stream);
}

void Environment::allocate() {
    const size_t each = schema().bytes_per_env() + schema().header().workspace_bytes,
                 free = on_->device->memory_free();
    const double wanted = double(each) * settings_.count;
    if (wanted > double(free))
        throw Error(settings_.where,
                    "env.count: " + name_ + " takes " + std::to_string(each) +
                        " bytes per environment; " + std::to_string(settings_.count) +
                        " of them are " + in_words(wanted) + ", and " + in_words(double(free)) +
                        " are free",
                    "at most " + std::to_string(free / each) + " fit");
    for (const Field& field : schema().fields())
        if (field.slot >= 0) arrays_.add(array_of(field, settings_.count));
    view_.bind(schema(), arrays_, pool_);
    if (const uint32_t bytes = schema().header().workspace_bytes)
        workspace_ = Buffer(on_->device, size_t(bytes) * settings_.count);
    clock_ = Buffer(on_->device, sizeof(RunClock));
    on_->stream->fill(&clock()->bad, 0xff, sizeof(uint64_t));
    draws_ = Buffer(on_->device, std::max<size_t>(1, params_.draws().size()) * sizeof(Draw));
    const uint64_t groups = (uint64_t(settings_.count) + totals_group - 1) / totals_group;
    size_t totals = 0;
    for (const Field& field : schema().fields())
        totals += field.role == Role::total ? field.count : 0;
    sums_ = Buffer(on_->device, groups * totals * sizeof(double));
    head() = {.seed = settings_.seed,
              .clock = clock(),
              .draws = static_cast<Draw*>(draws_.data()),
              .envs = settings_.count,
              .first_env = settings_.first_env,
              .levels = settings_.levels,
              .pool_size = 0,
              .pool_chance = 0,
              .progress_per_tick = 0,
              .prefetch = resident(on_->device->info()),
              .progress_from = 0,
              .workspace = workspace_.data()};
}

// Writes the parameters into the view, with the addresses of the tables.
void Environment::load_params() {
    tables_.bind(params_);
    view_.set_params(schema(), params_.bytes());
    if (!params_.draws().empty())
        on_->stream->to_device(draws_.data(), params_.draws().data(),
                               params_.draws().size() * sizeof(Draw));
    on_->stream->synchronize();
}

void Environment::show_view() {
    stepwise_.program.set_view(*on_->stream, view_.bytes());
    programs_.show();
    on_->stream->synchronize();
}

void Environment::set_table(const std::string& name, const NpyArray& data,
                            const std::string& where) {
    const Field& field = params_.field(name);
    if (field.kind != Kind::table)
        throw Error(settings_.where, "env.params." + name + ": is a number, not a table");
    tables_.set(*on_, field, data, name_, where);
    load_params();
    show_view();
}

// The author's prepare() fills the tables that neither a file nor a hook has filled.
void Environment::prepare_tables() {
    if (!tables_.make_room(*on_, schema(), settings_)) return;
    load_params();
    show_view();
    const NoArgs args{};
    launch(stepwise().kernel("nacelle_prepare"), thread_each(prepare_lanes), args_of(args));
    on_->stream->synchronize();
}

std::unique_ptr<Stepwise> Environment::run_instead(const Binary& stepwise) {
    auto other = std::make_unique<Stepwise>(*on_, stepwise, settings_.source.filename().string());
    exchange_build(*other);
    return other;
}
void Environment::exchange_build(Stepwise& other) {
    on_->stream->synchronize();
    stepwise_.exchange_build(other);
    show_view();
}

void Environment::exchange(Environment& other) {
    std::swap(name_, other.name_);
    std::swap(code_, other.code_);
    stepwise_.exchange(other.stepwise_);
    std::swap(params_, other.params_);
    std::swap(view_, other.view_);
    arrays_.exchange(other.arrays_);
    pool_.exchange(other.pool_);
    std::swap(tables_, other.tables_);
    std::swap(draws_, other.draws_);
    std::swap(sums_, other.sums_);
    std::swap(workspace_, other.workspace_);
    std::swap(head().clock, other.head().clock);
    std::swap(head().seed, other.head().seed);
    std::swap(head().progress_from, other.head().progress_from);
    std::swap(head().progress_per_tick, other.head().progress_per_tick);
    std::swap(head().pool_chance, other.head().pool_chance);
    for (Environment* const one : {this, &other})
        one->view_.bind(one->schema(), one->arrays_, one->pool_);
}

void Environment::require_envs(std::span<const uint32_t> chosen) const {
    for (const uint32_t env : chosen)
        if (env >= settings_.count)
            throw Error(name_, "there is no environment " + std::to_string(env),
                        "there are 0 to " + std::to_string(settings_.count - 1));
}

void Environment::run_reset(uint32_t form, std::span<const uint32_t> chosen,
                            std::span<const uint32_t> places) {
    require_envs(chosen);
    const bool all = chosen.data() == nullptr;
    if (!all && chosen.empty()) return;
    const auto upload = [&](std::span<const uint32_t> values) {
        Buffer memory(on_->device, values.size_bytes());
        on_->stream->to_device(memory.data(), values.data(), values.size_bytes());
        return memory;
    };
    const Buffer chosen_there = upload(chosen), places_there = upload(places);
    const ResetArgs args{.form = form,
                         .ahead = 0,
                         .chosen = static_cast<uint32_t*>(chosen_there.data()),
                         .count = all ? settings_.count : uint32_t(chosen.size()),
                         .places = head().pool_size,
                         .place = static_cast<uint32_t*>(places_there.data())};
    launch(stepwise_.reset, shape_of(args.count), args_of(args));
    record_ticks(1);
    on_->stream->synchronize();
}

void Environment::reset() {
    run_reset(tick() == 0 ? ResetArgs::first_episode : ResetArgs::next_episode, {}, {});
}
void Environment::reset(std::span<const uint32_t> chosen) {
    const uint32_t none = 0;
    run_reset(ResetArgs::next_episode, chosen.data() ? chosen : std::span(&none, size_t(0)), {});
}

void Environment::record_step(bool draw, uint32_t ahead, uint32_t envs) {
    const StepArgs args{.ahead = ahead, .draw = draw, .copies = nullptr};
    launch(stepwise_.step, shape_of(envs ? envs : settings_.count), args_of(args));
}
void Environment::record_ticks(uint64_t by) {
    const ClockArgs args{.by = by};
    launch(stepwise_.clock, thread_each(1), args_of(args));
}
void Environment::record_restart(uint32_t envs) {
    const ResetArgs args{.form = ResetArgs::next_episode,
                         .ahead = 0,
                         .chosen = nullptr,
                         .count = envs ? envs : settings_.count,
                         .places = 0,
                         .place = nullptr};
    launch(stepwise_.reset, shape_of(args.count), args_of(args));
    record_ticks(1);
}
void Environment::step() {
    record_step(false, 0);
    record_ticks(1);
}
void Environment::step_at_random() {
    record_step(true, 0);
    record_ticks(1);
}

uint64_t Environment::tick() {
    uint64_t now = 0;
    on_->stream->to_host(&now, &clock()->tick, sizeof now);
    on_->stream->synchronize();
    return now;
}

void Environment::set_tick(uint64_t tick) {
    on_->stream->to_device(&clock()->tick, &tick, sizeof tick);
    on_->stream->synchronize();
}
void Environment::set_seed(uint64_t seed) {
    head().seed = seed;
    show_view();
}

void Environment::set_param(const std::string& name, const Json& value) {
    params_.set(name, value);
    given_[name] = value;
    load_params();
    if (!is_distribution(value)) fill_varied(name);
    show_view();
}

void Environment::forget_given_defaults() {
    const ParamValues defaults(schema(), stepwise_.program.defaults(), settings_.where);
    std::erase_if(given_, [&](const auto& entry) {
        return params_.field(entry.first).kind != Kind::table &&
               defaults.get(entry.first) == params_.get(entry.first);
    });
}

// A number for a varied parameter is set in every environment at once.
void Environment::fill_varied(const std::string& name) {
    const Field& field = params_.field(name);
    NamedArray* const column = field.varied ? arrays_.find("param." + name) : nullptr;
    if (!column) return;
    const size_t size = dtype_size(field.dtype);
    std::vector<std::byte> values(column->bytes());
    for (size_t i = 0; i < column->count(); ++i)
        std::memcpy(values.data() + i * size,
                    params_.bytes().data() + offset_of(field, i / settings_.count), size);
    column->write_bytes(values.data(), column->count());
}

EpisodeProgress Environment::progress() const {
    return {.from = head().progress_from, .per_tick = head().progress_per_tick};
}
void Environment::set_progress(const EpisodeProgress& progress) {
    head().progress_from = progress.from;
    head().progress_per_tick = progress.per_tick;
    show_view();
}

}
