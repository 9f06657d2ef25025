#include "engine/compile/rebuild.h"

#include "engine/base/seconds_since.h"
#include "engine/compile/spaces.h"
#include "engine/compile/stand_in.h"

#include <nacelle/plugin/failure_text.h>
#include <utility>

namespace nacelle {
namespace {

// A compile that is younger is given up for a newer save, though not twice in a row.
constexpr std::chrono::milliseconds young{200};

}

Rebuilder::Rebuilder(std::shared_ptr<RunsOn> on, bool policy_bound)
    : on_(std::move(on)), policy_bound_(policy_bound), thread_([this] { run(); }) {}

Rebuilder::~Rebuilder() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        give_up();
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
        const bool is_young =
            compiles_ && !gave_up_ && std::chrono::steady_clock::now() - began_ < young;
        gave_up_ |= is_young;
        if (is_young || !compiles_) give_up();    // not compiling: it may be at a full build
    }
    wake_.notify_all();
}

void Rebuilder::give_up() { cancel_ = stop_programs_ = true; }

void Rebuilder::compile_again(SavedSource source) {
    {
        const std::lock_guard lock(mutex_);
        if (next_ || compiles_ || result_) return;
        next_ = std::move(source);
        give_up();    // what only finishes a draft
    }
    wake_.notify_all();
}

void Rebuilder::finish_draft(SavedSource source) {
    {
        const std::lock_guard lock(mutex_);
        unfinished_ = std::move(source);
    }
    wake_.notify_all();
}

std::optional<Rebuilt> Rebuilder::take() {
    std::optional<Rebuilt> taken;
    {
        const std::lock_guard lock(mutex_);
        ready_ = false;
        taken = std::exchange(result_, std::nullopt);
    }
    wake_.notify_all();    // an unfinished draft waits until all results were taken
    return taken;
}

void Rebuilder::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock,
                   [&] { return ends_ || (recipe_ && (next_ || (unfinished_ && !result_))); });
        if (ends_) return;
        if (!next_) {
            build_in_full(lock, *std::exchange(unfinished_, std::nullopt), Recipe(*recipe_));
            continue;
        }
        const SavedSource source = *std::exchange(next_, std::nullopt);
        const Recipe recipe = *recipe_;
        cancel_ = stop_programs_ = false;
        compiles_ = true;
        began_ = std::chrono::steady_clock::now();
        lock.unlock();
        std::optional<Rebuilt> built = build(source, recipe, false);
        lock.lock();
        compiles_ = false;
        if (!built || ends_) continue;
        // What is wrong with a version that has been saved over is of no use.
        if (next_ && !built->failure.empty()) continue;
        gave_up_ = false;
        const bool compiled = built->code.has_value(),
                   draft = compiled && built->code->stepwise.get().draft;
        if (compiled) unfinished_.reset();    // this version takes its place
        result_ = std::move(built);
        ready_ = true;
        if (draft && !next_) build_in_full(lock, source, recipe);
    }
}

// Whoever cancels it has a newer version compiled. Where that is not taken, the draft that runs on is built in full then.
void Rebuilder::build_in_full(std::unique_lock<std::mutex>& lock, const SavedSource& source,
                              const Recipe& recipe) {
    cancel_ = stop_programs_ = false;
    lock.unlock();
    std::optional<Rebuilt> full = build(source, recipe, true);
    lock.lock();
    if (!full || next_ || ends_) return;
    if (!full->code) {
        on_->log.warn(full->failure);
        return;
    }
    full->finishes = !result_;
    // Nobody has taken the draft: this is the version, with those of the draft's programs that have no drafts.
    if (result_) full->programs.merge(result_->programs);
    result_ = std::move(full);
    ready_ = true;
}

// Nothing where it was given up. All programs compile side by side, from a copy of the version: the files may be saved
// meanwhile.
std::optional<Rebuilt> Rebuilder::build(const SavedSource& source, const Recipe& recipe,
                                        bool behind_draft) {
    const auto start = std::chrono::steady_clock::now();
    Rebuilt rebuilt;
    rebuilt.source = source;
    rebuilt.recipe_number = recipe.number;
    rebuilt.failure = source.refused;
    if (!rebuilt.failure.empty()) return rebuilt;
    std::map<uint64_t, std::future<Binary>> around;
    try {
        const EnvVersion version = version_of(on_, recipe.source, source.files);
        // Drafts of the programs around it are worth it where they compile beside its own.
        const bool aside = !behind_draft && drafts_aside(version),
                   draft = aside || (!behind_draft && recipe.programs.empty());
        for (const auto& [number, text] : recipe.programs)
            if (!text.of_sizes)
                around[number] =
                    version.begin_copy(aside ? beside_checks(text, recipe.from_pool) : text,
                                       {.cancel = &stop_programs_, .draft = draft, .aside = true});
        rebuilt.code =
            compile_saved(version, {.cancel = &cancel_, .draft = draft, .aside = aside || !draft},
                          recipe.from_pool, stop_programs_);
        const EnvSchema& schema = rebuilt.code->schema;
        rebuilt.other_spaces = difference_of_spaces(recipe.running, schema);
        if (!policy_bound_ || rebuilt.other_spaces.empty()) {
            const bool same_sizes = stand_in_text(recipe.running) == stand_in_text(schema);
            for (const auto& [number, text] : recipe.programs)
                if (text.of_sizes && !same_sizes && !behind_draft)
                    around[number] = rebuilt.code->begin(text, &stop_programs_).binary;
            for (auto& [number, binary] : around) rebuilt.programs[number] = binary.get();
        }
    } catch (const std::exception& wrong) {
        rebuilt.failure = plugin::failure_text(wrong);
        rebuilt.code.reset();
    }
    stop_programs_ = true;
    around.clear();    // waits for those that nobody needs
    if (cancel_) return std::nullopt;
    rebuilt.seconds = seconds_since(start);
    return rebuilt;
}

}
