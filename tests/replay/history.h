#pragma once
#include "algorithms/replay/replay.h"
#include "engine/plugins/host_services.h"
#include "tests/env/workbench.h"

// A replay at work, and beside it all that has happened, as plain lists.
namespace nacelle::test {

inline Json steps_env(uint32_t rows) {
    return {{"source", source_path("tests/replay/steps.cu")}, {"count", rows}};
}

class History final {
public:
    // What one step of all rows was.
    struct Step {
        std::vector<double> obs, action, reward, terminated, truncated, mask, next_obs, next_mask;
    };

    History(const replay::Settings& settings, uint32_t rows)
        : rows(rows),
          settings(settings),
          on_(quick_cpu()),
          env_(on_, settings_of(steps_env(rows))),
          plugins_({}, shared_cache()),
          services_("test", plugins_, env_, HostServices::InstanceKind::learner) {
        within([&] {
            replay_ =
                std::make_unique<replay::Replay>(plugin::Host(services_.table()), this->settings,
                                                 replay::Form::values, uint64_t(1) << 30);
            replay_->make_arrays();
        });
    }
    void take_step() {
        Step step;
        step.obs = numbers(env_, "obs");
        step.mask = numbers(env_, "mask");
        within([&] {
            replay_->see(rows, nullptr);
            replay_->choose(true, false, rows, nullptr);
            replay_->step(nullptr);
        });
        step.action = numbers(env_, "action.add");
        step.reward = numbers(env_, "reward");
        step.terminated = numbers(env_, "terminated");
        step.truncated = numbers(env_, "truncated");
        step.next_obs = numbers(env_, "obs");
        step.next_mask = numbers(env_, "mask");
        const std::vector<double> ends = numbers(env_, "final_obs");
        for (size_t row = 0; row < rows; ++row)
            if (step.terminated[row] || step.truncated[row]) {
                for (size_t k = 0; k < 2; ++k) step.next_obs[2 * row + k] = ends[2 * row + k];
                for (size_t k = 0; k < 3; ++k) step.next_mask[3 * row + k] = 1;
            }
        steps.push_back(std::move(step));
    }
    void draw(uint32_t update = 0) {
        within([&] { replay_->draw(update, nullptr); });
    }
    void revise() {
        within([&] { replay_->revise(nullptr); });
    }
    std::vector<double> array(const std::string& name) { return numbers(env_, "test." + name); }
    void write(const std::string& name, const std::vector<double>& values) {
        write_numbers(env_, "test." + name, values);
    }

    size_t slots() const { return size_t(settings.capacity / rows); }
    // The first step that is still there, and the first that has not all of its n steps behind it.
    size_t oldest() const { return steps.size() > slots() ? steps.size() - slots() : 0; }
    size_t end() const {
        const size_t ahead = settings.n_step - 1;
        return steps.size() > oldest() + ahead ? steps.size() - ahead : oldest();
    }
    // The step that lies in a slot now.
    size_t step_in(size_t slot) const {
        size_t step = steps.size() - 1;
        while (step % slots() != slot) --step;
        return step;
    }

    size_t rows;
    replay::Settings settings;
    std::vector<Step> steps;

private:
    template <class Fn> void within(Fn&& fn) {
        services_.call(HostServices::CallContext::running, "test", [&] {
            fn();
            return true;
        });
        on_->stream->synchronize();
    }

    std::shared_ptr<RunsOn> on_;
    Environment env_;
    Plugins plugins_;
    HostServices services_;
    std::unique_ptr<replay::Replay> replay_;
};

}
