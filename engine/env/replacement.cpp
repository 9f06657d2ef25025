#include "engine/env/replacement.h"

#include "engine/base/error.h"
#include "engine/compile/spaces.h"
#include "engine/env/observe_again.h"

#include <algorithm>

namespace nacelle {
namespace {

EnvSettings settings_for(const Environment& running) {
    EnvSettings settings = running.settings();
    settings.params = Json::object();
    for (const auto& [name, value] : running.given_params()) settings.params[name] = value;
    return settings;
}

// Copies the content of arrays that both have in the same form.
void copy_same(Registry& to, const Registry& from, Stream& stream) {
    for (const NamedArray& source : from.all()) {
        NamedArray* const mine = to.find(source.name());
        if (mine && same_form(*mine, source) && source.role() != Role::plugin)
            stream.copy(mine->device(), source.device(), mine->bytes());
    }
    stream.synchronize();
}

}

Replacement::Replacement(Environment& running, const Rebuilt& rebuilt) : running_(running) {
    running.on().stream->synchronize();
    running.check_finite();
    fresh_ = std::make_shared<Environment>(*rebuilt.code, settings_for(running),
                                           std::function<void(Environment&)>(), &running);
    require_finite_observations(*fresh_);
    fresh_->head().seed = running.head().seed;
    fresh_->head().progress_from = running.head().progress_from;
    fresh_->head().progress_per_tick = running.head().progress_per_tick;
    fresh_->version_ = running.version_;
    copy_pool();
    const std::string what = running.settings().source.filename().string();
    for (const auto& [number, binary] : rebuilt.programs) {
        Program* const program = running.programs().find(number);
        if (!program) continue;    // released since
        programs_.emplace_back(program, std::make_unique<Program>(running.on(), binary, what));
    }
    state_changed_ = !carries_all(Role::state) || !carries_all(Role::agent);
    totals_carried_ = carries_all(Role::total);
}

// Takes as many snapshots as the running version has, from the new version's environments in turn: a new field has
// the value that reset() gives it.
void Replacement::copy_pool() {
    const uint32_t size = running_.head().pool_size;
    if (size == 0) return;
    std::vector<uint32_t> chosen(size);
    for (uint32_t i = 0; i < size; ++i) chosen[i] = i % fresh_->count();
    fresh_->save_snapshots(chosen);
    fresh_->head().pool_chance = running_.head().pool_chance;
}

// Whether no array of a role was added, removed or changed.
bool Replacement::carries_all(Role role) const {
    const auto of_role = [&](Environment& env) {
        std::vector<const NamedArray*> found;
        for (const NamedArray& array : env.arrays().all())
            if (array.role() == role) found.push_back(&array);
        return found;
    };
    const auto before = of_role(running_), after = of_role(*fresh_);
    return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                      [](const auto* a, const auto* b) { return same_form(*a, *b); });
}

void Replacement::swap() {
    running_.exchange(*fresh_);
    for (auto& [program, other] : programs_) program->exchange(*other);
    running_.show_view();
}

void Replacement::install() {
    swap();
    try {
        observe_again(running_);
    } catch (...) {
        swap();
        throw;
    }
}

void Replacement::roll_back() {
    running_.on().stream->synchronize();
    swap();
    observe_again(running_);
}

// Clears the sums if one column is new: a mean over columns with different numbers of episodes is meaningless.
void Replacement::commit() {
    if (!totals_carried_)
        for (NamedArray& array : running_.arrays().all())
            if (array.role() == Role::total)
                running_.on().stream->fill(array.device(), 0, array.bytes());
    ++running_.version_;
    // Of the same spaces, the recipe stays true, and so does what is compiled by it at this moment.
    if (!difference_of_spaces(fresh_->schema(), running_.schema()).empty())
        running_.programs().reloaded();
}

std::shared_ptr<Environment> Replacement::standalone() {
    Stream& stream = *running_.on().stream;
    copy_same(fresh_->arrays_, running_.arrays_, stream);
    fresh_->set_tick(running_.tick());
    copy_same(fresh_->pool_, running_.pool_, stream);
    fresh_->show_view();
    observe_again(*fresh_);
    fresh_->version_ = running_.version_ + 1;
    return fresh_;
}

}
