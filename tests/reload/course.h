#pragma once
#include "engine/run/run.h"
#include "tests/reload/bench.h"

namespace nacelle::test {

// CartPole, or another environment of ours, in a folder of its own, a run of PPO on it, and who saves.
class Course final {
public:
    explicit Course(const std::shared_ptr<RunsOn>& on, const Json& over = Json::object(),
                    const std::string& environment = "cartpole")
        : on_(on),
          name_(environment + ".cu"),
          plugins_({build_path("plugins"), build_path("algorithms")}, on->cache) {
        text_ = read_file(env_folder / name_);
        save(text_);
        configuration_ = {
            {"env", {{"source", source().string()}, {"count", 32}}},
            {"learner", {{"name", "ppo"}, {"horizon", 16}, {"epochs", 1}, {"minibatches", 2}}},
            {"policies", {{"default", {{"hidden", {8}}}}}},
            {"run", {{"total_steps", 1 << 30}, {"checkpoint_every", 0}, {"evaluate_every", 400}}}};
        if (environment == "cartpole") configuration_["env"]["params"]["force"] = 9;
        merge_json(configuration_, over);
        begin({.out = out(), .watch = true});
    }

    void begin(RunStart start) {
        run_.reset();
        run_ =
            std::make_unique<TrainingRun>(load_environment(on_, plugins_, configuration_, "test"),
                                          plugins_, configuration_, "test", std::move(start));
        run_->on_reload([this](const RunReload& reload) { told_.push_back(reload); });
    }
    void resume() {
        configuration_ = run_configuration(out());
        begin({.out = out(), .resume = true, .watch = true});
    }

    TrainingRun& run() { return *run_; }
    const std::vector<RunReload>& told() const { return told_; }
    std::filesystem::path source() const { return folder_.path() / name_; }
    std::filesystem::path out() const { return folder_.path() / "out"; }
    const std::string& text() const { return text_; }
    void save(const std::string& text) const { folder_.write(name_, text); }
    std::string with(const std::string& old, const std::string& other) const {
        std::string changed = text_;
        const size_t at = changed.find(old);
        if (at == changed.npos) throw std::runtime_error(name_ + " has no " + old);
        return changed.replace(at, old.size(), other);
    }
    // Trains until a save has been taken or refused.
    const RunReload& wait() {
        const size_t before = told_.size();
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (told_.size() == before) {
            if (!run_->iterate() && told_.size() == before)
                throw std::runtime_error("the run ended before anything became of a save");
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("nothing became of a save within two minutes");
        }
        return told_.back();
    }
    const RunReload& save_and_wait(const std::string& text) {
        save(text);
        return wait();
    }

private:
    Folder folder_;
    std::shared_ptr<RunsOn> on_;
    std::string name_;
    Plugins plugins_;
    std::string text_;
    Json configuration_;
    std::vector<RunReload> told_;
    std::unique_ptr<TrainingRun> run_;
};

}
