#include "engine/env/replacement.h"

#include "engine/base/error.h"

#include <algorithm>
#include <numeric>

namespace nacelle {
namespace {

EnvSettings settings_for(const Environment& running) {
    EnvSettings settings = running.settings();
    settings.params = Json::object();
    for (const auto& [name, value] : running.given_params()) settings.params[name] = value;
    return settings;
}

}

Replacement::Replacement(Environment& running, const Rebuilt& rebuilt) : running_(running) {
    running.on().stream->synchronize();
    running.check_finite();
    fresh_.reset(new Environment(running.on_, settings_for(running), rebuilt.code, &running, {}));
    fresh_->require_finite_observations();
    fresh_->head().seed = running.head().seed;
    fresh_->head().progress_per_tick = running.head().progress_per_tick;
    fresh_->version_ = running.version_;
    copy_pool();
    const std::string what = running.settings().source.filename().string();
    for (const auto& [number, binary] : rebuilt.programs) {
        const auto found = running.programs_.find(number);
        if (found == running.programs_.end()) continue;    // released since
        programs_.emplace_back(found->second.get(), std::make_unique<Program>(running.on(), binary,
                                                                              what, ProgramText()));
    }
    state_changed_ = !carries_all(Role::state) || !carries_all(Role::agent);
    totals_carried_ = carries_all(Role::total);
}

// As many snapshots as the running one has, of the scratch copy's environments in turn: what a new field
// holds in them is what reset() gives it.
void Replacement::copy_pool() {
    const uint32_t size = running_.head().pool_size;
    if (size == 0) return;
    std::vector<uint32_t> chosen(size);
    for (uint32_t i = 0; i < size; ++i) chosen[i] = i % fresh_->count();
    fresh_->save_snapshots(chosen);
    fresh_->head().pool_chance = running_.head().pool_chance;
}

// Of a role's arrays none has come, gone or changed.
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

void Replacement::take_place() {
    const auto swap = [&] {
        running_.exchange(*fresh_);
        for (auto& [program, other] : programs_) program->exchange(*other);
        running_.show_view();
    };
    swap();
    try {
        running_.look_again();
    } catch (...) {
        swap();
        throw;
    }
}

void Replacement::take_back() {
    running_.on().stream->synchronize();
    running_.exchange(*fresh_);
    for (auto& [program, other] : programs_) program->exchange(*other);
    running_.show_view();
    running_.look_again();
}

// Sums over episodes that some columns have counted and others have not would be means of nothing.
void Replacement::settle() {
    if (!totals_carried_)
        for (NamedArray& array : running_.arrays().all())
            if (array.role() == Role::total)
                running_.on().stream->fill(array.device(), 0, array.bytes());
    ++running_.version_;
    ++running_.recipe_number_;
}

std::shared_ptr<Environment> Replacement::on_its_own() {
    fresh_->carry_from(running_);
    fresh_->set_tick(running_.tick());
    for (Environment::HeldPool& mine : fresh_->pool_)
        for (Environment::HeldPool& its : running_.pool_)
            if (mine.name == its.name && mine.dtype == its.dtype && mine.shape == its.shape)
                running_.on().stream->copy(mine.memory.data(), its.memory.data(),
                                           mine.memory.bytes());
    fresh_->show_view();
    fresh_->look_again();
    fresh_->version_ = running_.version_ + 1;
    return fresh_;
}

}
