#pragma once
#include "engine/check/compare.h"
#include "engine/check/finding.h"
#include "engine/check/variant.h"

#include <algorithm>
#include <chrono>

namespace nacelle {

// The environment under check: its settings, what fills its tables, and the backend for checks on a GPU.
struct Subject {
    EnvSettings settings;
    std::function<void(Environment&)> loaded;
    BackendSettings backend;
};

// Sends one JSON object to the process that waits for this one.
using Tell = std::function<void(const Json&)>;

// The state that the checks of one environment share: loading it in several builds, the size of trials, and progress
// reports to the parent process, which kills this one where an author's function never returns.
class Session final {
public:
    Session(Subject subject, Tell tell);

    const Subject& subject() const { return subject_; }
    std::string file() const { return subject_.settings.source.filename().string(); }
    // Known after the first build.
    bool knows_schema() const { return schema_ != nullptr; }
    const EnvSchema& schema() const { return *schema_; }
    void learn(const EnvSchema& schema) { schema_ = std::make_unique<EnvSchema>(schema); }

    // The number of environments and steps of a trial: fewer of both for large teams.
    uint32_t envs() const;
    uint32_t steps() const;
    // At most this many steps, for trials with expensive steps.
    uint32_t steps(uint32_t at_most) const { return std::min(steps(), at_most); }
    EnvSettings settings(uint32_t envs) const;

    // Compiles, allocates, fills tables and resets.
    std::unique_ptr<Environment> load(const Variant& variant, const EnvSettings& settings);
    std::unique_ptr<Environment> load(const Variant& variant) {
        return load(variant, settings(envs()));
    }
    // As load(), with every other environment close to the time limit, so that a trial reaches it.
    std::unique_ptr<Environment> load_near_limit(const Variant& variant, uint32_t most_envs = ~0u);
    // As load(), on a GPU. Throws where there is none.
    std::unique_ptr<Environment> load_on_gpu(const EnvSettings& settings);

    // Compiles alone, with this machine's compiler or another: no function of the author's runs.
    Binary compile(const Variant& variant, std::unique_ptr<Compiler> other = {});

    void begin(const std::string& check);
    // Says which functions of the author's run from here on. Compilers have no time limit.
    void doing(const std::string& functions, bool author = true);
    // Calls step(i) for i < steps and reports progress in between.
    void play(uint32_t steps, const std::function<void(uint32_t)>& step);

private:
    void went_on();

    Subject subject_;
    Tell tell_;
    std::unique_ptr<EnvSchema> schema_;
    std::chrono::steady_clock::time_point told_;
};

void put_near_limit(Environment& env, uint32_t steps);

Finding passed(std::string what);
Finding skipped(std::string why);
Finding advice(std::string what, std::string remedy);
Finding refused(std::string what, std::string remedy);

}
