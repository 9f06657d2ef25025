#pragma once
#include "engine/env/reloader.h"
#include "tests/env/workbench.h"

#include <chrono>
#include <thread>

// What tests of reloads share: an author who saves, and an environment that is stepped meanwhile.
namespace nacelle::test {

// The parts of a small environment's file; what a test does not name is as here.
struct Author {
    std::string before;
    std::string params = "float by = 1;";
    std::string state = "float value; int steps;";
    std::string action = "nacelle::Discrete<2> go;";
    std::string obs = "float value;";
    std::string reset = "s.value = 0; s.steps = 0;";
    std::string step = "s.value += p.by; ++s.steps;";
    std::string observe = "return {s.value};";
    int time_limit = 0;

    std::string text() const {
        return "#include <nacelle/env.h>\n" + before +
               "struct Counter {\n    static constexpr int time_limit = " +
               std::to_string(time_limit) + ";\n    struct Params { " + params +
               " };\n    struct State { " + state + " };\n    struct Action { " + action +
               " };\n    struct Obs { " + obs +
               " };\n    static void reset(State& s, const Params& p, nacelle::Rng& rng) { "
               "(void)p, (void)rng; " +
               reset +
               " }\n    static nacelle::Outcome step(State& s, const Action& a, const Params& p, "
               "nacelle::Rng& rng) {\n"
               "        (void)a, (void)p, (void)rng;\n        " +
               step +
               "\n        return {.reward = 1.0f};\n    }\n    static Obs observe(const State& s, "
               "const Params& p) { (void)s, (void)p; " +
               observe + " }\n};\nNACELLE_ENV(Counter)\n";
    }
};

// Its step leaves this value.
inline Author adding(int by) {
    return {.step = "s.value = " + std::to_string(by) + "; ++s.steps;"};
}

// Until something has become of a save; what is done meanwhile is done again and again.
inline Reload wait_for_save(
    Reloader& reloader, const std::function<void()>& meanwhile = [] {}) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        meanwhile();
        if (const std::optional<Reload> found = reloader.take()) return *found;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error("nothing became of a save within a minute");
}

// Compiles no drafts: half the compilers for tests of what a reload keeps, which is the same for the full build.
class WholeCompiler final : public Compiler {
public:
    explicit WholeCompiler(std::unique_ptr<Compiler> inner) : inner_(std::move(inner)) {}
    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        ProgramSource whole = source;
        whole.draft = false;
        return inner_->compile(whole, cancel);
    }

private:
    std::unique_ptr<Compiler> inner_;
};
inline std::shared_ptr<RunsOn> without_drafts(std::shared_ptr<RunsOn> on) {
    on->compiler = std::make_unique<WholeCompiler>(std::move(on->compiler));
    return on;
}

class Bench final {
public:
    explicit Bench(std::shared_ptr<RunsOn> on, const Author& author = {}, Json env = Json::object(),
                   const ReloadSettings& settings = {}, uint32_t count = 64, ReloadUser user = {})
        : source_(folder_.write("counter.cu", author.text())) {
        env["source"] = source_.string();
        env["count"] = count;
        env_ = std::make_shared<Environment>(std::move(on), settings_of(env));
        reloader_ = std::make_unique<Reloader>(env_, settings, std::move(user));
    }

    Environment& env() { return *env_; }
    Reloader& reloader() { return *reloader_; }
    const Folder& folder() const { return folder_; }
    const std::filesystem::path& source() const { return source_; }
    // By rename, as most editors do.
    void save(const Author& author) const { folder_.write("counter.cu", author.text()); }
    // Steps until something has become of a save.
    Reload wait() {
        return wait_for_save(*reloader_, [&] { env_->step_at_random(); });
    }
    // Until the version runs whose step leaves this value: of saves in a row, one in between may have
    // settled and been taken before it.
    Reload wait_until(double value) {
        for (;;) {
            const Reload reload = wait();
            env_->step_at_random();
            if (first("state.value") == value) return reload;
        }
    }
    Reload save_and_wait(const Author& author) {
        save(author);
        return wait();
    }
    double first(const std::string& array) { return numbers(*env_, array).front(); }
    std::string said(const Reload& reload) const { return reload.text(env_->name()); }

private:
    Folder folder_;
    std::filesystem::path source_;
    std::shared_ptr<Environment> env_;
    std::unique_ptr<Reloader> reloader_;
};

}
