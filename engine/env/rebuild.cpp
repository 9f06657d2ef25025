#include "engine/env/rebuild.h"

#include "engine/base/error.h"

#include <future>

namespace nacelle {
namespace {

constexpr std::chrono::milliseconds between_tries{100};

}

Rebuilder::Rebuilder(std::shared_ptr<RunsOn> on, bool policy_bound)
    : on_(std::move(on)), policy_bound_(policy_bound), thread_([this] { run(); }) {}

Rebuilder::~Rebuilder() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        cancel_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Rebuilder::use(Recipe recipe, uint64_t number, EnvSchema running) {
    const std::lock_guard lock(mutex_);
    recipe_ = std::move(recipe);
    number_ = number;
    running_ = std::move(running);
}

void Rebuilder::compile(SavedSource source) {
    {
        const std::lock_guard lock(mutex_);
        next_ = std::move(source);
        cancel_ = true;
        result_.reset();
        ready_ = false;
    }
    wake_.notify_all();
}

void Rebuilder::compile_again(SavedSource source) {
    {
        const std::lock_guard lock(mutex_);
        if (next_ || compiles_ || result_) return;
        next_ = std::move(source);
        cancel_ = true;    // what only finishes a draft
    }
    wake_.notify_all();
}

std::optional<Rebuilt> Rebuilder::take() {
    const std::lock_guard lock(mutex_);
    ready_ = false;
    return std::exchange(result_, std::nullopt);
}

void Rebuilder::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return ends_ || (next_ && recipe_); });
        if (ends_) return;
        const SavedSource source = *std::exchange(next_, std::nullopt);
        const Recipe recipe = *recipe_;
        const EnvSchema running = *running_;
        const uint64_t number = number_;
        cancel_ = false;
        compiles_ = true;
        lock.unlock();
        std::optional<Rebuilt> built = build(source, recipe, number, running);
        lock.lock();
        compiles_ = false;
        if (next_ || ends_) continue;
        if (built) {
            result_ = built;
            ready_ = true;
            if (!built->code.stepwise.draft) continue;
            lock.unlock();
            std::optional<Rebuilt> full = in_full(*built, recipe);
            lock.lock();
            if (!full || next_ || ends_) continue;
            full->finishes = !result_;    // nobody has taken the draft: no more is said of it
            result_ = std::move(full);
            ready_ = true;
            continue;
        }
        // The files are others than this version just now. If they have come back to it, the watch has
        // nothing to tell.
        wake_.wait_for(lock, between_tries, [&] { return ends_ || next_; });
        if (!next_) next_ = source;
    }
}

// Nothing where the files were saved again meanwhile: what was compiled may be of both versions.
std::optional<Rebuilt> Rebuilder::build(const SavedSource& source, const Recipe& recipe,
                                        uint64_t number, const EnvSchema& running) {
    const auto start = std::chrono::steady_clock::now();
    Rebuilt rebuilt;
    rebuilt.source = source;
    rebuilt.recipe_number = number;
    try {
        // Programs that are built around it take longer than it does.
        const bool draft = recipe.programs.empty();
        rebuilt.code = compile_environment(*on_, recipe.settings, recipe.varied, &cancel_, draft);
        build_programs(rebuilt, recipe, running);
    } catch (const std::exception& wrong) {
        rebuilt.failure = wrong.what();
    }
    if (cancel_) return std::nullopt;
    rebuilt.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!still_so(rebuilt, recipe)) return std::nullopt;
    return rebuilt;
}

// What was compiled is the version that was saved, and the files are still that version.
bool Rebuilder::still_so(const Rebuilt& rebuilt, const Recipe& recipe) const {
    try {
        const bool compiled_so =
            !rebuilt.failure.empty() || same_text(rebuilt.code.files, rebuilt.source.files);
        return compiled_so && same_text(read_closure(recipe.settings.source), rebuilt.source.files);
    } catch (const std::exception&) {
        return false;
    }
}

// Nothing where it was cancelled or the files have changed: the draft goes on then, until the next save.
std::optional<Rebuilt> Rebuilder::in_full(const Rebuilt& draft, const Recipe& recipe) {
    Rebuilt full = draft;
    try {
        full.code = compile_environment(*on_, recipe.settings, recipe.varied, &cancel_);
    } catch (const std::exception& wrong) {
        if (!cancel_) on_->log.warn(wrong.what());
        return std::nullopt;
    }
    if (cancel_ || !still_so(full, recipe)) return std::nullopt;
    return full;
}

// All at once: a learner's program takes a compiler for seconds, and each is a process of its own.
void Rebuilder::build_programs(Rebuilt& rebuilt, const Recipe& recipe, const EnvSchema& running) {
    const std::string what = recipe.settings.source.filename().string();
    const EnvSchema schema = EnvSchema::read(rebuilt.code.stepwise.elf(), what);
    rebuilt.other_spaces = difference_of_spaces(running, schema);
    if (policy_bound_ && !rebuilt.other_spaces.empty()) return;
    std::map<uint64_t, std::future<Binary>> compiling;
    for (const auto& [number, text] : recipe.programs)
        compiling[number] = std::async(std::launch::async, [&, text = &text] {
            return binary_or_error(
                compile_program(*on_, recipe.settings.source, *text, &cancel_, false, true));
        });
    for (auto& [number, binary] : compiling) rebuilt.programs[number] = binary.get();
}

}
