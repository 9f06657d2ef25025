#pragma once
#include "engine/env/env_programs.h"
#include "engine/env/stepwise.h"
#include "engine/env/tables.h"

#include <nacelle/programs/arguments.h>

namespace nacelle {

// Statistics over the episodes that ended since they were last taken.
struct Totals {
    // The mean return of an agent of one policy, and its standard deviation over episodes.
    struct Policy {
        std::string name;
        double mean_return = 0, return_deviation = 0;
    };
    double episodes = 0, mean_length = 0;
    double mean_return = 0, return_deviation = 0;    // of the first policy
    std::vector<Policy> policies;
    std::vector<std::pair<std::string, double>> log;    // means of the author's Log
};

// What Episode::progress is at a tick: from + tick * per_tick, at most 1.
struct EpisodeProgress {
    float from = 0, per_tick = 0;

    // From 0 to 1 over the ticks of a run.
    static EpisodeProgress over(uint64_t ticks) {
        return {.per_tick = static_cast<float>(1.0 / double(ticks))};
    }
    // As behind a run's end: what judges a policy poses the whole problem.
    static EpisodeProgress ended() { return {.from = 1}; }
};

// Memory in place of an array's own, of as many bytes.
struct Elsewhere {
    std::string array;
    void* memory = nullptr;
};

// A loaded environment: the author's file compiled for this backend, `count` copies of it side by side, their arrays,
// and the programs around it.
class Environment final {
public:
    // `loaded` runs before the first reset and may fill tables.
    Environment(std::shared_ptr<RunsOn> on, EnvSettings settings,
                const std::function<void(Environment&)>& loaded = {});
    // From existing code; waits for its program. `before`: another version, whose tables it shares.
    Environment(const EnvCode& code, EnvSettings settings,
                const std::function<void(Environment&)>& loaded = {},
                const Environment* before = nullptr);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    const std::string& name() const { return name_; }
    const EnvSchema& schema() const { return stepwise_.program.schema(); }
    const EnvSettings& settings() const { return settings_; }
    RunsOn& on() { return *on_; }
    uint32_t count() const { return settings_.count; }
    Registry& arrays() { return arrays_; }
    Program& stepwise() { return stepwise_.program; }
    EnvPrograms& programs() { return programs_; }
    // The view as it was last given to kernels: head, parameters, addresses of arrays.
    std::span<const std::byte> view() const { return view_.bytes(); }
    // The code that runs; programs around this environment are compiled from it.
    const EnvCode& code() const { return code_; }
    // Starts at 1 and grows with each reload.
    uint64_t version() const { return version_; }

    // Begins a new episode in every environment, or in the chosen ones.
    void reset();
    void reset(std::span<const uint32_t> chosen);
    // One step with the actions in the action arrays, or with random ones that the masks allow.
    void step();
    void step_at_random();
    // The same on a CPU, for environments of one agent. It writes some arrays elsewhere this time; what they hold here stays
    // as it was. Only for arrays that no step reads: observations, last observations, rewards. `copies` are made of some that
    // steps read. `behind`, if there is one, is called for environments [first, last) by the thread that has stepped them,
    // which has their numbers in its cache.
    using Behind = std::function<void(uint64_t first, uint64_t last)>;
    void step_into(std::span<const Elsewhere> written, const StepCopies& copies,
                   const Behind& behind = {});
    // Enqueues one step without advancing the clock, for graphs of many steps. `ahead` counts from the clock; `envs`,
    // unless 0, limits the step to the first ones (whole blocks).
    void record_step(bool draw, uint32_t ahead, uint32_t envs = 0);
    // Enqueues an advance of the clock; every launch that draws random numbers needs a tick of its own.
    void record_ticks(uint64_t by);
    // Enqueues a new episode of every environment, or of the first `envs`, and one tick. Does not wait.
    void record_restart(uint32_t envs = 0);
    uint64_t tick();
    // Sets the clock, to that of a checkpoint.
    void set_tick(uint64_t tick);
    // The seed of all random numbers from now on; settings() keep the first one.
    void set_seed(uint64_t seed);

    // Replaces the pool of snapshots by the states of these environments, in this order.
    void save_snapshots(std::span<const uint32_t> chosen);
    // Restores each chosen environment from the snapshot at the same index of `places`.
    void restore_snapshots(std::span<const uint32_t> chosen, std::span<const uint32_t> places);
    // The probability that an episode begins from a random snapshot of the pool instead of reset().
    void set_snapshot_chance(double chance);
    uint32_t snapshots() const { return head().pool_size; }

    // Sets a parameter: a number takes effect at once, a distribution at the next reset of each environment.
    void set_param(const std::string& name, const Json& value);
    Json param(const std::string& name) const { return params_.get(name); }
    // The parameters that the configuration or set_param() has set: they keep their values where a reload brings
    // other defaults.
    const std::map<std::string, Json>& given_params() const { return given_; }
    // Drops the set parameters that equal the file's defaults: the configuration of a resumed run has every default
    // written out.
    void forget_given_defaults();
    // Fills a Table from host memory of the right type and shape.
    void set_table(const std::string& name, const NpyArray& data, const std::string& where);
    EpisodeProgress progress() const;
    void set_progress(const EpisodeProgress& progress);

    // Of the environments of all ranks, which come along.
    Totals take_totals();
    // Throws with environment, array, row and step where a reward or an observation was not finite.
    void check_finite();

    // Runs another build of the same source from now on. Returns the old one, which may be destroyed once no graph
    // uses its kernels.
    std::unique_ptr<Stepwise> run_instead(const Binary& stepwise);
    // Runs this one, and keeps the one that ran in its place.
    void exchange_build(Stepwise& other);
    // The launch of a NACELLE_ENV_KERNEL over this many environments.
    LaunchShape shape_of(uint64_t envs) const {
        return env_shape(schema().header(), envs, count());
    }
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> args) {
        launch_program(*on_, *on_->stream, kernel, shape, view_.bytes().data(), args);
    }
    // Of a program around this environment, or around its sizes.
    void launch(const Program& program, const Kernel& kernel, const LaunchShape& shape,
                std::span<const std::byte> args) {
        launch_program(*on_, *on_->stream, kernel, shape, program.view(), args);
    }

private:
    friend class Replacement;
    // Swaps everything that belongs to a version. Clock, latch, seed, progress and the chance of snapshots stay.
    void exchange(Environment& other);

    ViewHead& head() { return view_.head(); }
    const ViewHead& head() const { return view_.head(); }
    RunClock* clock() const { return static_cast<RunClock*>(clock_.data()); }    // of the device
    NamedArray array_of(const Field& field, size_t envs);
    void allocate();
    void load_params();
    void show_view();
    void prepare_tables();
    void fill_varied(const std::string& name);
    void run_reset(uint32_t form, std::span<const uint32_t> chosen,
                   std::span<const uint32_t> places);
    void require_envs(std::span<const uint32_t> chosen) const;

    std::shared_ptr<RunsOn> on_;
    EnvSettings settings_;
    std::string name_;
    EnvCode code_;
    Stepwise stepwise_;
    ParamValues params_;
    EnvView view_;
    Registry arrays_, pool_;    // the pool of snapshots: arrays like the environments'
    Tables tables_;
    EnvPrograms programs_;
    std::map<std::string, Json> given_;
    uint64_t version_ = 1;
    Buffer clock_, draws_, sums_, workspace_;
};

}
