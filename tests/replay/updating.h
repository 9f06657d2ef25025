#pragma once
#include "tests/algorithms/lesson.h"
#include "tests/replay/reference.h"

// A learner with a replay, update by update, and what it holds before and after each.
namespace nacelle::test {

inline constexpr double rate = 1e-3, tau = 0.1, reward_scale = 0.5;
inline constexpr double rounding = 2e-6;    // of a gradient, over the root of its mean square
inline constexpr size_t samples = 32, neurons = 8, seen_width = 2;
inline constexpr int steps_before = 20;

class Updating final {
public:
    // An array of weights: itself, what Adam keeps, how often it was updated, and those that follow.
    struct Weights {
        Numbers now, moments, following;
        double updates = 0;
    };

    Updating(const std::string& learner, const std::string& environment, Json settings)
        : follows_itself_(!learner.ends_with("sac")) {
        // Several steps to an update: those before the first one are then fewer iterations.
        Json config = {{"name", learner},      {"horizon", 4},
                       {"batch", samples},     {"warm_up", 8 * steps_before},
                       {"capacity", 8 * 40},   {"tau", tau},
                       {"gamma", 0.9},         {"reward_scale", reward_scale},
                       {"learning_rate", rate}};
        config["policies"]["default"] = {{"hidden", {neurons}}, {"activation", "tanh"}};
        config.merge_patch(settings);
        const Json env = {{"source", source_path("tests/replay/" + environment)}, {"count", 8}};
        lesson_ = std::make_unique<Lesson>(quick_cpu(), env, learner, config);
        while (numbers("replay.steps")[0] < steps_before) lesson_->iterate();
    }
    void update() { lesson_->iterate(); }
    Numbers numbers(const std::string& array) { return lesson_->numbers(array); }
    Weights weights(const std::string& of) {
        Weights w;
        w.now = numbers(of + ".weights");
        w.moments = numbers(of + ".moments");
        w.updates = numbers(of + ".updates")[0];
        if (of != "temperature" && (of != "policy" || follows_itself_))
            w.following = numbers(of + ".following");
        return w;
    }
    // Rows of a minibatch as networks see them: normalised by what was known at the update.
    std::vector<Numbers> seen(const std::string& array) {
        Numbers mean, scale;
        for (const NamedArray& one : lesson_->env().arrays().all()) {
            if (one.name().ends_with(".obs.mean")) mean = one.numbers();
            if (one.name().ends_with(".obs.scale")) scale = one.numbers();
        }
        std::vector<Numbers> all = rows(array, seen_width);
        for (Numbers& row : all)
            for (size_t k = 0; k < seen_width; ++k)
                row[k] = std::clamp((row[k] - mean[k]) * scale[k], -10.0, 10.0);
        return all;
    }
    std::vector<Numbers> rows(const std::string& array, size_t across) {
        const Numbers flat = numbers("batch." + array);
        std::vector<Numbers> all;
        for (size_t i = 0; i + across <= flat.size(); i += across)
            all.emplace_back(flat.begin() + long(i), flat.begin() + long(i + across));
        return all;
    }

private:
    bool follows_itself_;    // the policy
    std::unique_ptr<Lesson> lesson_;
};

// Holds what an update has made of an array of weights to what it should have made of it. Adam divides a gradient by its size,
// so that one that is near nothing leads as far as others: a weight may be off by what rounding of its gradient moves it.
inline void hold(const Updating::Weights& found, Updating::Weights before, const Numbers& slopes,
                 bool follows) {
    Numbers below = before.now, above = before.now;
    for (const auto& [weights, way] : {std::pair{&below, -1.0}, std::pair{&above, 1.0}}) {
        Numbers moments = before.moments, rounded = slopes;
        for (double& one : rounded) one += way * rounding * root_mean_square(slopes);
        adam(*weights, moments, rounded, before.updates, rate);
    }
    adam(before.now, before.moments, slopes, before.updates, rate);
    Numbers held = found.now;
    for (size_t i = 0; i < held.size(); ++i) {
        const double free = std::abs(above[i] - below[i]);
        held[i] = std::clamp(before.now[i], held[i] - free, held[i] + free);
    }
    CHECK(farthest(held, before.now) <= 1e-5);
    CHECK(farthest(found.moments, before.moments) <= 1e-4);    // squares of f32
    CHECK(found.updates == before.updates + 1);
    if (!follows) return;
    for (size_t i = 0; i < before.following.size(); ++i)
        before.following[i] += tau * (found.now[i] - before.following[i]);
    CHECK(farthest(found.following, before.following) <= 1e-5);
}

// Who computes networks: kernels for a CPU, those for a GPU in an emulation, or LibTorch.
enum class By { kernels, emulated, libtorch };
inline constexpr const char* no_libtorch = "this build has no learners on LibTorch";
inline bool is_there(By by) {
    return by != By::libtorch || std::filesystem::exists(product_plugins / "torch.so");
}
inline std::string name_of(const char* learner, By by) {
    return (by == By::libtorch ? "torch_" : "") + std::string(learner);
}
inline Json with(By by, Json settings) {
    if (by == By::emulated) settings["emulate"] = true;
    return settings;
}

}
