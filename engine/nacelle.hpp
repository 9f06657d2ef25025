#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>
// The engine for a host application. What fails throws a std::runtime_error whose text says where,
// what, and what there is instead. Two engines may live in one process; each is used by one thread at
// a time.
#define NACELLE_PUBLIC __attribute__((visibility("default")))

namespace nacelle {

class Env;
class Environment;
class NamedArray;
class TrainingRun;
struct EngineParts;

struct EngineSettings {
    std::string backend = "auto";                      // "auto", "cuda" or "cpu"
    int threads = 0;                                   // of the CPU; 0: one per processor
    std::filesystem::path cache;                       // empty: the user's cache directory
    std::vector<std::filesystem::path> env_folders;    // where names of environments are looked up
    std::vector<std::filesystem::path>
        plugin_folders;    // where plugins are looked up, before the installed ones
};

// A named array of an environment.
class NACELLE_PUBLIC ArrayView {
public:
    const std::string& name() const;
    // "f32", "i32", "u8", "b8", ...
    std::string type() const;
    const std::vector<int64_t>& shape() const;
    // The device's memory, in place: no copy. On the CPU backend it can be read and written directly.
    void* device() const;
    // A copy. T must be the array's type: float, int32_t, uint8_t, bool, ...
    template <class T> std::vector<T> host() const;
    // Any type, as doubles.
    std::vector<double> numbers() const;
    // Replaces all elements.
    template <class T> void write(std::span<const T> values);

private:
    friend class ArrayList;
    explicit ArrayView(NamedArray& array) : array_(&array) {}
    NamedArray* array_;
};

class NACELLE_PUBLIC ArrayList {
public:
    ArrayView operator[](const std::string& name) const;
    std::vector<std::string> names() const;

private:
    friend class Env;
    explicit ArrayList(std::shared_ptr<Environment> environment)
        : environment_(std::move(environment)) {}
    std::shared_ptr<Environment> environment_;
};

class NACELLE_PUBLIC PluginList {
public:
    // Opens a plugin now; its offers go before those of the folders.
    void load(const std::filesystem::path& library);
    // The ids of all plugins that are found, and of none that would be refused.
    std::vector<std::string> ids() const;

private:
    friend class Engine;
    explicit PluginList(std::shared_ptr<EngineParts> parts) : parts_(std::move(parts)) {}
    std::shared_ptr<EngineParts> parts_;
};

// A loaded environment: many copies of one .cu side by side.
class NACELLE_PUBLIC Env {
public:
    const std::string& name() const;
    uint32_t count() const;
    ArrayList arrays() const { return ArrayList(environment_); }

    void reset();
    void reset(std::span<const uint32_t> chosen);
    // One step of all environments with the actions that lie in the action arrays.
    void step();
    void step_at_random();
    // Throws where a reward or an observation was not finite, with environment and step.
    void check();

    void save_snapshots(std::span<const uint32_t> chosen);
    void restore_snapshots(std::span<const uint32_t> chosen, std::span<const uint32_t> places);
    void set_snapshot_chance(double chance);

    void set_param(const std::string& name, const nlohmann::json& value);
    nlohmann::json param(const std::string& name) const;

private:
    friend class Engine;
    friend class Run;
    Env(std::shared_ptr<EngineParts> parts, std::shared_ptr<Environment> environment)
        : parts_(std::move(parts)), environment_(std::move(environment)) {}
    std::shared_ptr<EngineParts> parts_;
    std::shared_ptr<Environment> environment_;
};

class NACELLE_PUBLIC Engine {
public:
    explicit Engine(const EngineSettings& settings = {});
    // "cuda" or "cpu", and why.
    std::string backend() const;
    const std::string& why() const;
    PluginList plugins() const { return PluginList(parts_); }
    // A name or a path to a .cu, and the objects "env" and "hooks" of a configuration.
    Env load(const std::string& source, const nlohmann::json& env = nlohmann::json::object(),
             uint64_t seed = 1, const nlohmann::json& hooks = nlohmann::json::object());

private:
    std::shared_ptr<EngineParts> parts_;
};

// Training on a loaded environment: "learner", "policies", "run" and "solved" of a configuration.
class NACELLE_PUBLIC Run {
public:
    Run(Env& env, const nlohmann::json& configuration, const std::filesystem::path& out = {});
    // Iterations of the learner until the metrics are read the next time; false where the run is over.
    bool iterate();
    bool solved() const;
    uint64_t steps() const;
    std::vector<std::pair<std::string, double>> metrics() const;
    // The mean return of the greedy policy over whole episodes.
    double evaluate(uint64_t episodes);

private:
    std::shared_ptr<TrainingRun> run_;
};

}
