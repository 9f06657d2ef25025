#pragma once
#include "engine/check/compare.h"
#include "engine/check/finding.h"
#include "engine/check/variant.h"

#include <algorithm>
#include <chrono>

namespace nacelle {

// One environment under check: its settings, what fills its tables, where a GPU may be looked for.
struct Subject {
    EnvSettings settings;
    std::function<void(Environment&)> loaded;
    BackendSettings backend;
};

// Takes one JSON object at a time: what the process that waits for this one reads.
using Tell = std::function<void(const Json&)>;

// What the checks of one environment share: loading it in several builds, the size of the trials,
// and word to the process that waits, which ends this one where an author's function never returns.
class Session final {
public:
    Session(Subject subject, Tell tell);

    const Subject& subject() const { return subject_; }
    std::string file() const { return subject_.settings.source.filename().string(); }
    // Known once the first build was made.
    bool knows_schema() const { return schema_ != nullptr; }
    const EnvSchema& schema() const { return *schema_; }
    void learn(const EnvSchema& schema) { schema_ = std::make_unique<EnvSchema>(schema); }

    // How many environments and steps a trial has: less of both where teams are big.
    uint32_t envs() const;
    uint32_t steps() const;
    // Fewer steps, for trials whose steps cost more than plain ones.
    uint32_t steps(uint32_t at_most) const { return std::min(steps(), at_most); }
    EnvSettings settings(uint32_t envs) const;

    // Compiles where the cache has nothing, allocates, fills tables and resets.
    std::unique_ptr<Environment> load(const Variant& variant, const EnvSettings& settings);
    std::unique_ptr<Environment> load(const Variant& variant) {
        return load(variant, settings(envs()));
    }
    // As load(), with every other environment close to the time limit, so that a trial meets it.
    std::unique_ptr<Environment> load_near_limit(const Variant& variant, uint32_t most_envs = ~0u);
    // As load(), on a GPU. Throws where there is none.
    std::unique_ptr<Environment> load_on_gpu(const EnvSettings& settings);

    // The compile alone, by this machine's compiler or another: no function of the author's runs.
    Binary compile(const Variant& variant, std::unique_ptr<Compiler> other = {});

    void begin(const std::string& check);
    // Which of the author's functions run from here on. Compilers may take their time.
    void doing(const std::string& functions, bool author = true);
    // step(i) for i < steps, with word in between that it goes on.
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
