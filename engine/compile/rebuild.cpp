#include "engine/compile/rebuild.h"

#include "engine/compile/spaces.h"

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

void Rebuilder::use(Recipe recipe) {
    const std::lock_guard lock(mutex_);
    recipe_ = std::move(recipe);
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
        cancel_ = false;
        compiles_ = true;
        lock.unlock();
        // The programs around it take longer than its own.
        std::optional<Rebuilt> built = build(source, recipe, recipe.programs.empty());
        lock.lock();
        compiles_ = false;
        if (next_ || ends_) continue;
        if (built) {
            const bool draft = built->code && built->code->stepwise.get().draft;
            result_ = std::move(built);
            ready_ = true;
            if (!draft) continue;
            lock.unlock();
            std::optional<Rebuilt> full = build(source, recipe, false);
            lock.lock();
            // If it was cancelled or the files have changed, the draft runs until the next save.
            if (!full || next_ || ends_) continue;
            if (!full->code) {
                on_->log.warn(full->failure);
                continue;
            }
            full->finishes = !result_;    // nobody has taken the draft: no more is said of it
            result_ = std::move(full);
            ready_ = true;
            continue;
        }
        // The files differ from this version at this moment. If they change back to it, the watch reports nothing.
        wake_.wait_for(lock, between_tries, [&] { return ends_ || next_; });
        if (!next_) next_ = source;
    }
}

// Nothing where the files were saved again meanwhile: the result may mix both versions.
std::optional<Rebuilt> Rebuilder::build(const SavedSource& source, const Recipe& recipe,
                                        bool draft) {
    const auto start = std::chrono::steady_clock::now();
    Rebuilt rebuilt;
    rebuilt.source = source;
    rebuilt.recipe_number = recipe.number;
    try {
        rebuilt.code = compile_env(on_, recipe.source, {.cancel = &cancel_, .draft = draft});
        build_programs(rebuilt, recipe);
    } catch (const std::exception& wrong) {
        rebuilt.failure = wrong.what();
        rebuilt.code.reset();
    }
    if (cancel_) return std::nullopt;
    rebuilt.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!still_so(rebuilt, recipe)) return std::nullopt;
    return rebuilt;
}

// Whether the result is the saved version and the files still have that version.
bool Rebuilder::still_so(const Rebuilt& rebuilt, const Recipe& recipe) const {
    try {
        const bool compiled_so =
            !rebuilt.code || same_text(rebuilt.code->files, rebuilt.source.files);
        return compiled_so && same_text(read_closure(recipe.source.file), rebuilt.source.files);
    } catch (const std::exception&) {
        return false;
    }
}

// In parallel: each program of a learner takes seconds and a process of its own.
void Rebuilder::build_programs(Rebuilt& rebuilt, const Recipe& recipe) {
    rebuilt.other_spaces = difference_of_spaces(recipe.running, rebuilt.code->schema);
    if (policy_bound_ && !rebuilt.other_spaces.empty()) return;
    std::map<uint64_t, PendingProgram> compiling;
    for (const auto& [number, text] : recipe.programs)
        compiling[number] = rebuilt.code->begin(text, &cancel_);
    for (auto& [number, pending] : compiling) rebuilt.programs[number] = pending.binary.get();
}

}
