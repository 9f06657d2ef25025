#pragma once
#if __cplusplus < 202002L
#error "nacelle.hpp needs C++20: compile with -std=c++20, or a later one"
#endif
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
class DevicePolicy;
class TrainedPolicy;
class TrainingRun;
struct EngineParts;
struct Internals;    // for doors of other languages, which are built with the engine
struct OpenedPolicy;

struct EngineSettings {
    std::string backend = "auto";                      // "auto", "cuda" or "cpu"
    int threads = 0;                                   // of the CPU; 0: one per processor
    std::filesystem::path cache;                       // empty: the user's cache directory
    std::vector<std::filesystem::path> env_folders;    // where names of environments are looked up
    // Where plugins are looked up, before the installed ones.
    std::vector<std::filesystem::path> plugin_folders;
};

// A named array of an environment.
class NACELLE_PUBLIC ArrayView {
public:
    // As the fields name it: "state.x", "obs", "reward".
    const std::string& name() const;
    // The type of an element: "f32", "i32", "u8", "b8", ...
    std::string type() const;
    // The number of elements along each dimension, the environments' or the agents' first.
    const std::vector<int64_t>& shape() const;
    // The device's memory, in place: no copy. On the CPU backend it can be read and written directly.
    void* device() const;
    // A copy of all elements. T must be the array's type: float, int32_t, uint8_t, bool, ...
    template <class T> std::vector<T> host() const;
    // A copy of all elements as doubles, whatever their type.
    std::vector<double> numbers() const;
    // Replaces all elements.
    template <class T> void write(std::span<const T> values);

private:
    friend class ArrayList;
    explicit ArrayView(NamedArray& array) : array_(&array) {}
    NamedArray* array_;
};

// The arrays of an environment.
class NACELLE_PUBLIC ArrayList {
public:
    // The array of this name; throws, with the names that are near, where there is none.
    ArrayView operator[](const std::string& name) const;
    // The names of all arrays.
    std::vector<std::string> names() const;

private:
    friend class Env;
    explicit ArrayList(std::shared_ptr<Environment> environment)
        : environment_(std::move(environment)) {}
    std::shared_ptr<Environment> environment_;
};

// The plugins that an engine finds.
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
    // The name of the author's struct.
    const std::string& name() const;
    // How many environments run side by side.
    uint32_t count() const;
    // The arrays of all of them, in the device's memory.
    ArrayList arrays() const { return ArrayList(environment_); }

    // Begins a new episode in every environment.
    void reset();
    // Begins a new episode in these environments.
    void reset(std::span<const uint32_t> chosen);
    // One step of all environments with the actions that lie in the action arrays.
    void step();
    // One step of all environments with random actions that the masks allow.
    void step_at_random();
    // Throws if a reward or an observation was not finite, with environment and step.
    void check();

    // Keeps the state of these environments as snapshots 0, 1, 2, ... in place of those that were kept.
    void save_snapshots(std::span<const uint32_t> chosen);
    // Takes the state of chosen[i] from snapshot places[i].
    void restore_snapshots(std::span<const uint32_t> chosen, std::span<const uint32_t> places);
    // From now on each episode begins from a snapshot with this probability, else by the author's reset.
    void set_snapshot_chance(double chance);

    // Sets a parameter to a number, or to a distribution as a configuration writes it.
    void set_param(const std::string& name, const nlohmann::json& value);
    // A parameter as a configuration would write it.
    nlohmann::json param(const std::string& name) const;

private:
    friend class Engine;
    friend class Run;
    friend struct Internals;
    Env(std::shared_ptr<EngineParts> parts, std::shared_ptr<Environment> environment)
        : parts_(std::move(parts)), environment_(std::move(environment)) {}
    std::shared_ptr<EngineParts> parts_;
    std::shared_ptr<Environment> environment_;
};

// A part of an action: one of `choices`, or a real number from `low` to `high` where there are none.
struct ActionPart {
    std::string name;
    uint32_t choices = 0;
    float low = 0, high = 0;
};

// A trained policy. It acts on this machine's CPU without an engine, an environment, a compiler or a plugin. Copies
// share its numbers, and several threads may call act() of one policy.
class NACELLE_PUBLIC Policy {
public:
    // Opens a run's directory, the JSON of one checkpoint, or a file of `nacelle export` (.onnx, .safetensors). A team's
    // policy is named; of a run `checkpoint` is "best" (the latest where none is), "latest" or a number of steps.
    explicit Policy(const std::filesystem::path& path, const std::string& name = {},
                    const std::string& checkpoint = "best");
    // The names of the policies in a run's directory or a checkpoint.
    static std::vector<std::string> names(const std::filesystem::path& path,
                                          const std::string& checkpoint = "best");
    // The name of the policy; "default" where its environment names none.
    const std::string& name() const;
    // The name of the environment that it was trained in.
    const std::string& environment() const { return environment_; }
    // The steps that it was trained for.
    uint64_t steps() const { return steps_; }
    // The numbers of one row of observations.
    size_t inputs() const;
    // The bytes of one row of masks, one for each choice; 0 where there are no choices.
    size_t choices() const;
    // The floats of one row of actions, one for each part: a choice's number or a value.
    size_t parts() const;
    // The floats that it remembers of one row from step to step; 0 where it remembers nothing.
    size_t memory() const;
    // The parts of an action, in their order.
    std::vector<ActionPart> actions() const;

    // Writes the most probable action for each row of observations; a mask's byte of 0 forbids a choice. `memory` has
    // memory() floats a row, which are 0 where an episode begins, and gets those for the next step.
    void act(std::span<const float> observations, std::span<float> actions,
             std::span<const uint8_t> masks = {}, std::span<float> memory = {}) const;
    // Draws an action for each row as training does; each call is a step and draws other numbers.
    void sample(std::span<const float> observations, std::span<float> actions,
                std::span<const uint8_t> masks = {}, std::span<float> memory = {});
    // Begins an episode in a row: its memory becomes 0.
    void forget(std::span<float> memory, size_t row) const;
    // Begins the draws of sample() anew: the same seed and the same calls give the same actions.
    void seed(uint64_t seed);

private:
    friend class GpuPolicy;
    friend class Run;
    explicit Policy(OpenedPolicy&& opened);
    std::shared_ptr<const TrainedPolicy> policy_;
    std::string environment_;
    uint64_t steps_ = 0, seed_ = 1, calls_ = 0;
};

// A trained policy on this machine's first GPU, for observations and actions in its memory. Copies share its numbers,
// and several threads may call act() of one policy.
class NACELLE_PUBLIC GpuPolicy {
public:
    // Copies a policy to the GPU; throws where there is none. NVRTC compiles its kernel, once on a machine.
    explicit GpuPolicy(const Policy& policy);

    // As Policy::act, with spans of the GPU's memory. The work goes on the stream, a CUstream or a cudaStream_t (null:
    // the default one), and is not waited for. A NaN or an infinity is not looked for.
    void act(std::span<const float> observations, std::span<float> actions,
             std::span<const uint8_t> masks = {}, void* stream = nullptr) const;
    // As Policy::sample, likewise: the same seed and the same calls give the same actions.
    void sample(std::span<const float> observations, std::span<float> actions,
                std::span<const uint8_t> masks = {}, void* stream = nullptr);
    // Begins the draws of sample() anew.
    void seed(uint64_t seed);

private:
    std::shared_ptr<const DevicePolicy> policy_;
    uint64_t seed_ = 1, calls_ = 0;
};

// A device, its compiler and its plugins.
class NACELLE_PUBLIC Engine {
public:
    // Opens the device; throws if the backend that the settings ask for is not there.
    explicit Engine(const EngineSettings& settings = {});
    // Where environments run: "cuda" or "cpu".
    std::string backend() const;
    // The reason for that backend.
    const std::string& why() const;
    // The plugins, which may be given more.
    PluginList plugins() const { return PluginList(parts_); }
    // Compiles and resets an environment: a name or a path to a .cu, and the objects "env" and "hooks" of a configuration.
    Env load(const std::string& source, const nlohmann::json& env = nlohmann::json::object(),
             uint64_t seed = 1, const nlohmann::json& hooks = nlohmann::json::object());

private:
    friend class Run;
    std::shared_ptr<EngineParts> parts_;
};

// Training on a loaded environment: "learner", "policies", "run" and "solved" of a configuration.
class NACELLE_PUBLIC Run {
public:
    // Begins a run; with `out` it keeps metrics and checkpoints in that directory, as `nacelle train` does.
    Run(Env& env, const nlohmann::json& configuration, const std::filesystem::path& out = {});
    // Goes on with the run in a directory from its newest checkpoint; `changes` go over its configuration. A model in a
    // file outside the folders of plugins is loaded only if `models` names it, as "FILE" or "POLICY=FILE".
    static Run resume(Engine& engine, const std::filesystem::path& directory,
                      const nlohmann::json& changes = nlohmann::json::object(),
                      const std::vector<std::string>& models = {});
    // Opens a run at a checkpoint ("best", "latest" or a number of steps); its directory stays as it is.
    static Run load(Engine& engine, const std::filesystem::path& directory,
                    const std::string& checkpoint = "best",
                    const std::vector<std::string>& models = {});
    // The environment that it trains in.
    Env env() const;
    // Runs the learner's iterations until the metrics are read the next time; false where the run is over.
    bool iterate();
    // Whether the mean return that `solved` asks for was reached.
    bool solved() const;
    // The steps that were taken, of all environments together.
    uint64_t steps() const;
    // The last reading of the metrics, each with its name.
    std::vector<std::pair<std::string, double>> metrics() const;
    // The mean return of the greedy policy over whole episodes.
    double evaluate(uint64_t episodes);
    // The policy as it is now, which further training does not change; of a team the one with this name.
    Policy policy(const std::string& name = {}) const;
    // Saves a checkpoint now; throws where the run has no directory.
    void save();
    // Ends the run: saves a checkpoint where it has a directory, and iterate() does nothing more.
    void stop();

private:
    friend struct Internals;
    Run(std::shared_ptr<EngineParts> parts, std::shared_ptr<TrainingRun> run)
        : parts_(std::move(parts)), run_(std::move(run)) {}
    std::shared_ptr<EngineParts> parts_;
    std::shared_ptr<TrainingRun> run_;
};

}
