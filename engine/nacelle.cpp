#include "engine/nacelle.hpp"

#include "engine/base/error.h"
#include "engine/base/installation.h"
#include "engine/internals.h"
#include "engine/policy/open_policy.h"
#include "engine/run/choose_checkpoint.h"
#include "engine/run/layers.h"
#include "engine/run/model_files.h"
#include "engine/run/run.h"

namespace nacelle {

struct EngineParts {
    std::shared_ptr<RunsOn> on;
    Plugins plugins;
};

namespace {

std::vector<std::filesystem::path> with_installed(std::vector<std::filesystem::path> folders,
                                                  const std::filesystem::path& installed) {
    folders.push_back(installed);
    return folders;
}

// The settings of a run's directory with changes and models over them. Throws if a model may not be loaded.
Json changed_run(const Plugins& plugins, const std::filesystem::path& directory,
                 const Json& changes, const std::vector<std::string>& models) {
    Json configuration = run_configuration(directory);
    Json said = said_by(model_assignments(configuration, models));
    lay_over(said, changes);
    lay_over(configuration, said_of_each(said, configuration));
    lay_over(configuration, said);
    check_model_files(configuration, (directory / "config.json").string(),
                      {.said = said, .plugin_folders = plugins.folders(), .of_run = true});
    return configuration;
}

}

Engine::Engine(const EngineSettings& settings) {
    const Installation installed = installation();
    std::shared_ptr<RunsOn> on =
        open_backend({.backend = settings.backend,
                      .threads = settings.threads,
                      .cache = settings.cache,
                      .env_folders = with_installed(settings.env_folders, installed.environments)});
    Plugins plugins(with_installed(settings.plugin_folders, installed.plugins), on->cache, on->log);
    parts_ = std::make_shared<EngineParts>(EngineParts{std::move(on), std::move(plugins)});
}
std::string Engine::backend() const { return parts_->on->cuda() ? "cuda" : "cpu"; }
const std::string& Engine::why() const { return parts_->on->why; }
Env Engine::load(const std::string& source, const nlohmann::json& env, uint64_t seed,
                 const nlohmann::json& hooks) {
    Json configuration = {{"env", env}, {"seed", seed}, {"hooks", hooks}};
    configuration["env"]["source"] = source;
    return Env(parts_,
               load_environment(parts_->on, parts_->plugins, configuration, "Engine::load"));
}

void PluginList::load(const std::filesystem::path& library) { parts_->plugins.load(library); }
std::vector<std::string> PluginList::ids() const {
    std::vector<std::string> ids;
    for (const PluginFile& file : parts_->plugins.list())
        if (file.manifest) ids.push_back(file.manifest->id);
    return ids;
}

const std::string& Env::name() const { return environment_->name(); }
uint32_t Env::count() const { return environment_->count(); }
void Env::reset() { environment_->reset(); }
void Env::reset(std::span<const uint32_t> chosen) { environment_->reset(chosen); }
void Env::step() { environment_->step(); }
void Env::step_at_random() { environment_->step_at_random(); }
void Env::check() { environment_->check_finite(); }
void Env::save_snapshots(std::span<const uint32_t> chosen) { environment_->save_snapshots(chosen); }
void Env::restore_snapshots(std::span<const uint32_t> chosen, std::span<const uint32_t> places) {
    environment_->restore_snapshots(chosen, places);
}
void Env::set_snapshot_chance(double chance) { environment_->set_snapshot_chance(chance); }
void Env::set_param(const std::string& name, const nlohmann::json& value) {
    environment_->set_param(name, value);
}
nlohmann::json Env::param(const std::string& name) const { return environment_->param(name); }

ArrayView ArrayList::operator[](const std::string& name) const {
    return ArrayView(environment_->arrays()[name]);
}
std::vector<std::string> ArrayList::names() const {
    std::vector<std::string> names;
    for (const NamedArray& array : environment_->arrays().all()) names.push_back(array.name());
    return names;
}

const std::string& ArrayView::name() const { return array_->name(); }
std::string ArrayView::type() const { return dtype_name(array_->dtype()); }
const std::vector<int64_t>& ArrayView::shape() const { return array_->shape(); }
void* ArrayView::device() const { return array_->device(); }
std::vector<double> ArrayView::numbers() const { return array_->numbers(); }
template <class T> std::vector<T> ArrayView::host() const { return array_->host<T>(); }
template <class T> void ArrayView::write(std::span<const T> values) { array_->write(values); }
#define NACELLE_ARRAY_OF(T)                                                                        \
    template NACELLE_PUBLIC std::vector<T> ArrayView::host<T>() const;                             \
    template NACELLE_PUBLIC void ArrayView::write<T>(std::span<const T>)
NACELLE_ARRAY_OF(float);
NACELLE_ARRAY_OF(double);
NACELLE_ARRAY_OF(int8_t);
NACELLE_ARRAY_OF(uint8_t);
NACELLE_ARRAY_OF(int16_t);
NACELLE_ARRAY_OF(uint16_t);
NACELLE_ARRAY_OF(int32_t);
NACELLE_ARRAY_OF(uint32_t);
NACELLE_ARRAY_OF(int64_t);
NACELLE_ARRAY_OF(uint64_t);
NACELLE_ARRAY_OF(bool);
#undef NACELLE_ARRAY_OF

Run::Run(Env& env, const nlohmann::json& configuration, const std::filesystem::path& out)
    : parts_(env.parts_) {
    for (const char* const key : {"env", "seed", "hooks"})
        if (configuration.contains(key))
            throw Error("Run", std::string("has '") + key + "', but its environment is loaded",
                        "Engine::load takes it");
    Json settings = configuration;
    check_model_files(settings, "Run",
                      {.said = configuration, .plugin_folders = env.parts_->plugins.folders()});
    run_ = std::make_shared<TrainingRun>(env.environment_, env.parts_->plugins, settings, "Run",
                                         RunStart{.out = out});
}
Run Run::resume(Engine& engine, const std::filesystem::path& directory,
                const nlohmann::json& changes, const std::vector<std::string>& models) {
    EngineParts& parts = *engine.parts_;
    const std::string where = (directory / "config.json").string();
    const Json configuration = changed_run(parts.plugins, directory, changes, models);
    return Run(engine.parts_,
               std::make_shared<TrainingRun>(
                   begin_environment(parts.on, parts.plugins, configuration, where), parts.plugins,
                   configuration, where, RunStart{.out = directory, .resume = true}));
}
Run Run::load(Engine& engine, const std::filesystem::path& directory, const std::string& checkpoint,
              const std::vector<std::string>& models) {
    EngineParts& parts = *engine.parts_;
    const std::string where = (directory / "config.json").string();
    const Json configuration = changed_run(parts.plugins, directory, Json::object(), models);
    const Checkpoint chosen = choose_checkpoint(directory, checkpoint, parts.on->log);
    auto run = std::make_shared<TrainingRun>(
        begin_environment(parts.on, parts.plugins, configuration, where), parts.plugins,
        configuration, where);
    run->go_on_from(chosen);
    return Run(engine.parts_, std::move(run));
}
Env Run::env() const { return Env(parts_, run_->trainee().shared_environment()); }
bool Run::iterate() { return run_->iterate(); }
bool Run::solved() const { return run_->solved(); }
uint64_t Run::steps() const { return run_->progress().steps; }
std::vector<std::pair<std::string, double>> Run::metrics() const {
    return run_->progress().metrics;
}
double Run::evaluate(uint64_t episodes) { return run_->evaluate(episodes).mean_return; }
Policy Run::policy(const std::string& name) const {
    return Policy(open_policy(run_->trainee(), run_->progress().steps, name));
}
void Run::save() { run_->save_now(); }
void Run::stop() { run_->stop(); }

const std::shared_ptr<Environment>& Internals::environment(const Env& env) {
    return env.environment_;
}
TrainingRun& Internals::run(const Run& run) { return *run.run_; }

}
