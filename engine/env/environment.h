#pragma once
#include "engine/arrays/registry.h"
#include "engine/env/param_values.h"
#include "engine/env/recipe.h"

#include <exception>
#include <nacelle/programs/arguments.h>

namespace nacelle {

struct NpyArray;

// Sums over the episodes that ended since the last time they were asked for.
struct Totals {
    // What the agents of one policy got: an agent's mean return, and how it spreads over episodes.
    struct Policy {
        std::string name;
        double mean_return = 0, return_deviation = 0;
    };
    double episodes = 0, mean_length = 0;
    double mean_return = 0, return_deviation = 0;    // of the first policy
    std::vector<Policy> policies;
    std::vector<std::pair<std::string, double>> log;    // means of the author's Log
};

// A loaded environment: the author's file compiled for this backend, `count` copies of it side by
// side, their arrays, and the programs built around it.
class Environment final {
public:
    // `loaded` runs before the first reset: what fills tables from other sources than files.
    Environment(std::shared_ptr<RunsOn> on, EnvSettings settings,
                const std::function<void(Environment&)>& loaded = {});
    // As soon as its arrays are there: where programs can be compiled side by side, its code is compiled while others
    // are built around it. Until finish() it cannot step, and its arrays hold nothing yet.
    static std::shared_ptr<Environment> begin(std::shared_ptr<RunsOn> on, EnvSettings settings);
    // Throws what the constructor would have thrown, also when it is called again.
    void finish();
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    const std::string& name() const { return name_; }
    const EnvSchema& schema() const { return stepwise_->schema(); }
    const EnvSettings& settings() const { return settings_; }
    RunsOn& on() { return *on_; }
    uint32_t count() const { return settings_.count; }
    Registry& arrays() { return arrays_; }
    Program& stepwise() { return *stepwise_; }
    // What kernels see, as the host gave it to them last: head, parameters, addresses of arrays.
    std::span<const std::byte> view() const { return view_; }
    // The author's files that it was compiled from.
    const std::vector<SourceFile>& files() const { return files_; }
    // 1, and one more with each reload.
    uint64_t version() const { return version_; }

    // Every environment, or the chosen ones, begin a new episode.
    void reset();
    void reset(std::span<const uint32_t> chosen);
    // One step with the actions of the action arrays, or with random ones within the masks.
    void step();
    void step_at_random();
    // Puts one step on the stream without moving the clock: for graphs of many. `ahead` counts from the
    // clock; `envs`, where it is not 0, steps the first ones alone (whole blocks of them).
    void record_step(bool draw, uint32_t ahead, uint32_t envs = 0);
    // Moves the clock; every launch that draws random numbers needs a tick of its own.
    void record_ticks(uint64_t by);
    // Puts a new episode of every environment on the stream, or of the first `envs`, and one tick;
    // nothing is waited for.
    void record_restart(uint32_t envs = 0);
    uint64_t tick();
    // The clock goes on from here: a checkpoint's.
    void set_tick(uint64_t tick);
    // All random numbers from now on; settings() keep the seed of the beginning.
    void set_seed(uint64_t seed);

    // The pool of snapshots becomes these environments' states, in this order.
    void save_snapshots(std::span<const uint32_t> chosen);
    // Each chosen environment goes on from the snapshot in the place of the same index.
    void restore_snapshots(std::span<const uint32_t> chosen, std::span<const uint32_t> places);
    // The chance that an episode begins from a random snapshot of the pool instead of reset().
    void set_snapshot_chance(double chance);
    uint32_t snapshots() const { return head().pool_size; }

    // A number or a distribution, from now on: numbers at once, distributions at each next reset.
    void set_param(const std::string& name, const Json& value);
    Json param(const std::string& name) const { return params_->get(name); }
    // The parameters that the configuration or set_param() has set: they stay what they are where a
    // reload brings other defaults.
    const std::map<std::string, Json>& given_params() const { return given_; }
    // Those that say what the file says anyway no longer count as set: a resumed run's configuration
    // has every default written out.
    void forget_given_defaults();
    // Fills a Table from host memory of the right type and shape.
    void set_table(const std::string& name, const NpyArray& data, const std::string& where);
    // How many ticks make the whole run, for Episode::progress.
    void set_run_length(uint64_t ticks);

    Totals take_totals();
    // Throws with environment, array, row and step where a reward or an observation was not finite.
    void check_finite();

    // A program around this environment's functions; it shares the arrays and the view. It stays where it
    // is over reloads, until it is released or the environment goes.
    Program& program(const ProgramText& text) { return program(begin_program(text)); }
    // The same in two steps, between which others can begin: they compile side by side. The second one
    // throws the diagnostics as an Error where the text does not compile.
    PendingProgram begin_program(const ProgramText& text) const;
    Program& program(PendingProgram pending);
    void release(const Program& program);
    // What a reload compiles; the number grows when it must be asked for again.
    Recipe recipe() const;
    uint64_t recipe_number() const { return recipe_number_; }
    // Another build of the same source runs from now on. What ran until now is given back, and may go
    // once no graph has its kernels.
    std::unique_ptr<Program> run_instead(const Binary& stepwise);
    // How a NACELLE_ENV_KERNEL runs over so many environments.
    LaunchShape shape_of(uint64_t envs) const { return env_shape(schema().header(), envs); }
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> args) {
        launch_program(*on_, *on_->stream, kernel, shape, view_.data(), args);
    }

private:
    friend class Replacement;
    friend class Reloader;

    // A table's data, shared by an environment and what takes its place.
    struct HeldTable {
        std::string name;
        std::shared_ptr<Buffer> memory;
        int64_t rows = 0;
        bool prepared = false;    // by the author's prepare(), which a reload runs again
    };
    struct HeldPool {
        std::string name;
        std::vector<int64_t> shape;
        Dtype dtype;
        Buffer memory;
    };

    // `before`: whose tables it shares.
    Environment(std::shared_ptr<RunsOn> on, EnvSettings settings, const EnvCode& code,
                const Environment* before, const std::function<void(Environment&)>& loaded);

    ViewHead& head() { return *reinterpret_cast<ViewHead*>(view_.data()); }
    const ViewHead& head() const { return *reinterpret_cast<const ViewHead*>(view_.data()); }
    Beat* beat() const { return static_cast<Beat*>(beat_.data()); }    // of the device
    void begin_episodes(const std::function<void(Environment&)>& loaded);
    void allocate();
    void bind_arrays();
    void bind_pool();
    // What a Replacement is made of.
    void exchange(Environment& other);
    void take_kernels();
    void exchange_pools(Environment& other);
    void share_tables(const Environment& other);
    void carry_from(const Environment& other);
    void look_again();
    void keep_rows_of_who_is_out(NamedArray& array, const Buffer& before);
    void require_finite_observations();
    void load_params();
    void load_tables(const std::vector<ParamEntry>& entries);
    void prepare_tables();
    bool holds_table(const std::string& name) const;
    void bind_table(const Field& field, const void* memory, int64_t rows);
    void fill_varied(const std::string& name);
    void show_view();
    void run_reset(uint32_t form, std::span<const uint32_t> chosen,
                   std::span<const uint32_t> places);
    void require_envs(std::span<const uint32_t> chosen) const;
    Buffer upload(std::span<const uint32_t> values);
    [[noreturn]] void report_bad(const char* array, uint64_t key);

    std::shared_ptr<RunsOn> on_;
    EnvSettings settings_;
    std::string name_;
    std::vector<std::string> defines_;
    std::set<std::string> varied_;
    std::vector<SourceFile> files_;
    std::map<std::string, Json> given_;
    uint64_t version_ = 1, next_program_ = 0, recipe_number_ = 0;
    std::unique_ptr<Program> stepwise_;
    std::shared_future<Compiled> to_come_;    // its code, until finish()
    std::exception_ptr unfinished_;           // why finish() failed
    std::map<uint64_t, std::unique_ptr<Program>> programs_;
    std::unique_ptr<ParamValues> params_;
    Registry arrays_;
    std::vector<std::byte> view_;
    std::vector<HeldPool> pool_;
    std::vector<HeldTable> tables_;
    Buffer beat_, draws_, sums_, workspace_;
    Kernel step_, reset_, advance_clock_, sum_totals_;
};

}
