#include "engine/check/session.h"

#include "engine/base/error.h"

namespace nacelle {
namespace {

// Limits of a trial on agents times steps, and on bytes of arrays that steps write: a second or two on one core.
constexpr uint64_t agent_steps = 200000, bytes_written = uint64_t(1) << 30;

}

Session::Session(Subject subject, Tell tell)
    : subject_(std::move(subject)), tell_(std::move(tell)), told_() {}

uint32_t Session::envs() const {
    // Neither a power of two nor a multiple of 32, so that the last group of a launch is partial.
    const uint32_t agents = std::max(1u, schema_->header().agents);
    return std::clamp(1800u / agents, 2u, 193u);
}

uint32_t Session::steps() const {
    const uint64_t agents = std::max(1u, schema_->header().agents);
    const uint64_t by_agents = agent_steps / (agents * envs()),
                   by_bytes = bytes_written / (uint64_t(schema_->bytes_per_env()) * envs() + 1);
    return uint32_t(std::clamp(std::min(by_agents, by_bytes), uint64_t(6), uint64_t(1000)));
}

EnvSettings Session::settings(uint32_t envs) const {
    EnvSettings settings = subject_.settings;
    settings.count = envs;
    return settings;
}

std::unique_ptr<Environment> Session::load(const Variant& variant, const EnvSettings& settings) {
    BackendSettings backend = subject_.backend;
    backend.backend = "cpu";
    const auto news = [this](const Binary* made) {
        if (!made) return doing("the compiler", false);
        tell_({{"object", made->image}});
        doing("prepare(), reset() or observe()");
    };
    auto env = std::make_unique<Environment>(open_variant(backend, variant, news), settings,
                                             subject_.loaded);
    if (!schema_) learn(env->schema());
    return env;
}

std::unique_ptr<Environment> Session::load_near_limit(const Variant& variant, uint32_t most_envs) {
    auto env = load(variant, settings(std::min(envs(), most_envs)));
    put_near_limit(*env, steps());
    return env;
}

std::unique_ptr<Environment> Session::load_on_gpu(const EnvSettings& settings) {
    BackendSettings backend = subject_.backend;
    backend.backend = "cuda";
    doing("the compiler", false);
    const auto on = open_backend(backend);
    return std::make_unique<Environment>(on, settings, subject_.loaded);
}

Binary Session::compile(const Variant& variant, std::unique_ptr<Compiler> other) {
    BackendSettings backend = subject_.backend;
    backend.backend = "cpu";
    const auto news = [this](const Binary* made) {
        if (!made) doing("the compiler", false);
    };
    const auto on = open_variant(backend, variant, news, std::move(other));
    return compile_env(on, source_of(subject_.settings)).stepwise.get();
}

void Session::begin(const std::string& check) { tell_({{"begin", check}}); }

void Session::doing(const std::string& functions, bool author) {
    told_ = std::chrono::steady_clock::now();
    tell_({{"doing", functions}, {"author", author}});
}

void Session::went_on() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(500)) return;
    told_ = now;
    tell_({{"going", true}});
}

void Session::play(uint32_t steps, const std::function<void(uint32_t)>& step) {
    doing("step(), or reset() or observe() behind it");
    for (uint32_t i = 0; i < steps; ++i) {
        step(i);
        went_on();
    }
}

void put_near_limit(Environment& env, uint32_t steps) {
    const uint32_t limit = env.schema().header().time_limit;
    NamedArray* const length = env.arrays().find("episode.length");
    if (!limit || !length || length->dtype() != Dtype::i32) return;
    std::vector<int32_t> lengths(length->count());
    const uint32_t window = std::max(1u, std::min({steps, limit, 200u}));
    for (uint32_t i = 0; i < lengths.size(); i += 2)
        lengths[i] = int32_t(limit - 1 - (i * 7) % window);
    length->write_bytes(lengths.data(), lengths.size());
}

Finding passed(std::string what) { return {{}, Verdict::ok, std::move(what), {}}; }
Finding skipped(std::string why) { return {{}, Verdict::skipped, std::move(why), {}}; }
Finding advice(std::string what, std::string remedy) {
    return {{}, Verdict::advice, std::move(what), std::move(remedy)};
}
Finding refused(std::string what, std::string remedy) {
    return {{}, Verdict::refused, std::move(what), std::move(remedy)};
}

}
