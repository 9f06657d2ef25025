#pragma once
#include "tests/plugins/bench.h"
#include "tests/support/skip.h"

// A learner at work on an environment of a test, an iteration at a time.
namespace nacelle::test {

inline const std::filesystem::path lesson_folder = source_path("tests/algorithms/environments");
inline const std::filesystem::path learners = build_path("algorithms");

// The settings of an environment: one of this folder's, or else one of the engine's.
inline Json env_of(const std::string& name, uint32_t count) {
    const auto own = lesson_folder / (name + ".cu");
    return {{"source", std::filesystem::exists(own) ? own.string() : name}, {"count", count}};
}

class Lesson final {
public:
    Lesson(std::shared_ptr<RunsOn> on, const Json& env, std::string learner, const Json& config,
           uint64_t seed = 1, uint64_t run_length = 0)
        : on_(std::move(on)),
          name_(std::move(learner)),
          env_(on_, settings_of(env, seed)),
          plugins_(plugins_of({learners, product_plugins})) {
        if (run_length > 0) env_.set_progress(EpisodeProgress::over(run_length));
        learner_ = std::make_unique<LearnerInstance>(plugins_, env_, name_, config);
    }
    void iterate(int times = 1) {
        for (int i = 0; i < times; ++i) learner_->record(on_->stream->native());
        on_->stream->synchronize();
        env_.check_finite();
    }
    // One of the learner's arrays.
    NamedArray& array(const std::string& of) { return env_.arrays()[name_ + "." + of]; }
    std::vector<double> numbers(const std::string& of) { return array(of).numbers(); }
    Environment& env() { return env_; }
    LearnerInstance& learner() { return *learner_; }
    // The bytes of all that a checkpoint would hold of the learner, array after array.
    std::vector<std::byte> persistent() {
        std::vector<std::byte> all;
        for (const NamedArray& one : env_.arrays().all())
            if (one.role() == Role::plugin && one.kept()) {
                const auto bytes = bytes_of(one);
                all.insert(all.end(), bytes.begin(), bytes.end());
            }
        return all;
    }

private:
    std::shared_ptr<RunsOn> on_;
    std::string name_;
    Environment env_;
    Plugins plugins_;
    std::unique_ptr<LearnerInstance> learner_;
};

// What a learner says to a configuration; empty where it takes it.
inline std::string objection(const std::shared_ptr<RunsOn>& on, const Json& env,
                             const std::string& learner, const Json& config) {
    return complaint([&] { Lesson(on, env, learner, config); });
}

// The length of a - b in parts of that of b.
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return 1e300;
    double apart = 0, whole = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        whole += b[i] * b[i];
    }
    return whole > 0 ? std::sqrt(apart / whole) : std::sqrt(apart);
}

}
