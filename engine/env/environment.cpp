#include "engine/env/environment.h"

#include "engine/base/error.h"
#include "engine/env/kept_source.h"

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
    : Environment(
          on, settings,
          compile_environment(*on, settings, varied_params(flatten_params(settings.params))),
          nullptr, loaded) {}

std::shared_ptr<Environment> Environment::begin(std::shared_ptr<RunsOn> on, EnvSettings settings) {
    const EnvCode code =
        begin_environment(on, settings, varied_params(flatten_params(settings.params)));
    try {
        return std::shared_ptr<Environment>(
            new Environment(std::move(on), std::move(settings), code, nullptr, {}));
    } catch (...) {
        // What is wrong with the code comes first.
        if (code.to_come.valid()) binary_or_error(code.to_come.get());
        throw;
    }
}

void Environment::finish() {
    if (unfinished_) std::rethrow_exception(unfinished_);
    if (!to_come_.valid()) return;
    try {
        run_instead(binary_or_error(std::exchange(to_come_, {}).get()));
        begin_episodes({});
    } catch (...) {
        unfinished_ = std::current_exception();
        throw;
    }
}

Environment::Environment(std::shared_ptr<RunsOn> on, EnvSettings settings, const EnvCode& code,
                         const Environment* before, const std::function<void(Environment&)>& loaded)
    : on_(std::move(on)),
      settings_(std::move(settings)),
      name_(settings_.source.stem().string()),
      defines_(code.defines),
      varied_(code.varied),
      files_(code.files),
      to_come_(code.to_come),
      arrays_(name_) {
    const auto entries = flatten_params(settings_.params);
    for (const ParamEntry& entry : entries) given_[entry.name] = entry.value;
    stepwise_ = std::make_unique<Program>(*on_, code.stepwise, settings_.source.filename().string(),
                                          ProgramText());
    name_ = schema().name();
    params_ = std::make_unique<ParamValues>(schema(), stepwise_->defaults(), settings_.where);
    view_.resize(schema().header().view_size);
    for (const ParamEntry& entry : entries)
        if (params_->field(entry.name).kind != Kind::table) params_->set(entry.name, entry.value);
    allocate();
    load_params();
    if (before) share_tables(*before);
    load_tables(entries);
    if (to_come_.valid()) return;
    take_kernels();
    show_view();
    begin_episodes(loaded);
}

void Environment::begin_episodes(const std::function<void(Environment&)>& loaded) {
    if (loaded) loaded(*this);
    prepare_tables();
    reset();
}

void Environment::take_kernels() {
    step_ = stepwise_->kernel("nacelle_step");
    reset_ = stepwise_->kernel("nacelle_reset");
    advance_clock_ = stepwise_->kernel("nacelle_clock");
    sum_totals_ = stepwise_->kernel("nacelle_totals");
}

Environment::~Environment() {
    try {
        on_->stream->synchronize();
    } catch (const Error&) {
        // A lost device: there is nothing left to wait for.
    }
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
    for (const Field& field : schema().fields()) {
        if (field.slot < 0) continue;
        Buffer memory(on_->device,
                      schema().elements(field, settings_.count) * dtype_size(field.dtype));
        arrays_.add(NamedArray(field.name, field.dtype, schema().shape(field, settings_.count),
                               field.role, field.kept, std::move(memory), *on_->stream));
    }
    bind_arrays();
    if (const uint32_t bytes = schema().header().workspace_bytes)
        workspace_ = Buffer(on_->device, size_t(bytes) * settings_.count);
    beat_ = Buffer(on_->device, sizeof(Beat));
    on_->stream->fill(&beat()->bad, 0xff, sizeof(uint64_t));
    draws_ = Buffer(on_->device, std::max<size_t>(1, params_->draws().size()) * sizeof(Draw));
    const uint64_t groups = (uint64_t(settings_.count) + totals_group - 1) / totals_group;
    size_t totals = 0;
    for (const Field& field : schema().fields())
        totals += field.role == Role::total ? field.count : 0;
    sums_ = Buffer(on_->device, groups * totals * sizeof(double));
    head() = {.seed = settings_.seed,
              .beat = beat(),
              .draws = static_cast<Draw*>(draws_.data()),
              .envs = settings_.count,
              .first_env = settings_.first_env,
              .levels = settings_.levels,
              .pool_size = 0,
              .pool_chance = 0,
              .progress_per_tick = 0,
              .prefetch = resident(on_->device->info()),
              .reserved = 0,
              .workspace = workspace_.data()};
}

void Environment::bind_arrays() {
    void** const slots = reinterpret_cast<void**>(view_.data() + schema().header().array_offset);
    for (const Field& field : schema().fields())
        if (field.slot >= 0) slots[field.slot] = arrays_[field.name].device();
}

// The parameters' bytes go into the view, with the tables' addresses that are there already.
void Environment::load_params() {
    std::memcpy(view_.data() + schema().header().params_offset, params_->bytes().data(),
                params_->bytes().size());
    for (const HeldTable& table : tables_)
        bind_table(params_->field(table.name), table.memory->data(), table.rows);
    if (!params_->draws().empty())
        on_->stream->to_device(draws_.data(), params_->draws().data(),
                               params_->draws().size() * sizeof(Draw));
    on_->stream->synchronize();
}

void Environment::show_view() {
    stepwise_->set_view(*on_->stream, view_);
    for (const auto& [number, program] : programs_) program->set_view(*on_->stream, view_);
    on_->stream->synchronize();
}

PendingProgram Environment::begin_program(const ProgramText& text) const {
    ProgramText whole = with_defines(text, defines_);
    auto compiled = std::async(std::launch::async, [on = on_, files = files_, whole] {
        return compile_version(*on, files, whole);
    });
    return {std::move(whole), version_, std::move(compiled)};
}
Program& Environment::program(PendingProgram pending) {
    Compiled compiled = pending.compiled.get();
    // A reload came between: its files are others by now.
    if (pending.version != version_)
        compiled = compile_program(*on_, place_of(*on_, files_), pending.text);
    auto program =
        std::make_unique<Program>(*on_, binary_or_error(std::move(compiled)),
                                  files_.front().path.filename().string(), std::move(pending.text));
    program->set_view(*on_->stream, view_);
    on_->stream->synchronize();
    ++recipe_number_;
    return *(programs_[++next_program_] = std::move(program));
}
void Environment::release(const Program& program) {
    try {
        on_->stream->synchronize();    // its kernels may still run
    } catch (const Error&) {
        // A lost device: nothing runs any more.
    }
    recipe_number_ +=
        std::erase_if(programs_, [&](const auto& entry) { return entry.second.get() == &program; });
}
Recipe Environment::recipe() const {
    Recipe recipe{.settings = settings_, .varied = varied_, .programs = {}};
    for (const auto& [number, program] : programs_) recipe.programs[number] = program->text();
    return recipe;
}

Buffer Environment::upload(std::span<const uint32_t> values) {
    Buffer memory(on_->device, values.size_bytes());
    on_->stream->to_device(memory.data(), values.data(), values.size_bytes());
    return memory;
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
    const Buffer chosen_there = upload(chosen), places_there = upload(places);
    const ResetArgs args{.form = form,
                         .ahead = 0,
                         .chosen = static_cast<uint32_t*>(chosen_there.data()),
                         .count = all ? settings_.count : uint32_t(chosen.size()),
                         .places = head().pool_size,
                         .place = static_cast<uint32_t*>(places_there.data())};
    launch(reset_, shape_of(args.count), args_of(args));
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
    const StepArgs args{.ahead = ahead, .draw = draw};
    launch(step_, shape_of(envs ? envs : settings_.count), args_of(args));
}
void Environment::record_ticks(uint64_t by) {
    const ClockArgs args{.by = by};
    launch(advance_clock_, thread_each(1), args_of(args));
}
void Environment::record_restart(uint32_t envs) {
    const ResetArgs args{.form = ResetArgs::next_episode,
                         .ahead = 0,
                         .chosen = nullptr,
                         .count = envs ? envs : settings_.count,
                         .places = 0,
                         .place = nullptr};
    launch(reset_, shape_of(args.count), args_of(args));
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
    on_->stream->to_host(&now, &beat()->clock, sizeof now);
    on_->stream->synchronize();
    return now;
}

void Environment::set_tick(uint64_t tick) {
    on_->stream->to_device(&beat()->clock, &tick, sizeof tick);
    on_->stream->synchronize();
}
void Environment::set_seed(uint64_t seed) {
    head().seed = seed;
    show_view();
}

void Environment::set_param(const std::string& name, const Json& value) {
    params_->set(name, value);
    given_[name] = value;
    load_params();
    if (!is_distribution(value)) fill_varied(name);
    show_view();
}

void Environment::forget_given_defaults() {
    const ParamValues defaults(schema(), stepwise_->defaults(), settings_.where);
    std::erase_if(given_, [&](const auto& entry) {
        return params_->field(entry.first).kind != Kind::table &&
               defaults.get(entry.first) == params_->get(entry.first);
    });
}

// A varied parameter that is given a number has it in every environment at once.
void Environment::fill_varied(const std::string& name) {
    const Field& field = params_->field(name);
    NamedArray* const column = field.varied ? arrays_.find("param." + name) : nullptr;
    if (!column) return;
    const size_t size = dtype_size(field.dtype);
    std::vector<std::byte> values(column->bytes());
    for (size_t i = 0; i < column->count(); ++i)
        std::memcpy(values.data() + i * size,
                    params_->bytes().data() + field.offset + i / settings_.count * field.step,
                    size);
    column->write_bytes(values.data(), column->count());
}

void Environment::set_run_length(uint64_t ticks) {
    head().progress_per_tick = ticks ? static_cast<float>(1.0 / double(ticks)) : 0;
    show_view();
}

}
