// How one version of an environment takes the place of another.
#include "engine/base/error.h"
#include "engine/env/environment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nacelle/episode.h>

namespace nacelle {

// All that a version brings along. Clock and latch, seed, progress and chance of snapshots are the
// environment's own.
void Environment::exchange(Environment& other) {
    std::swap(name_, other.name_);
    std::swap(defines_, other.defines_);
    std::swap(files_, other.files_);
    stepwise_->exchange(*other.stepwise_);
    other.params_ = std::exchange(params_, std::move(other.params_));
    arrays_.exchange(other.arrays_);
    std::swap(view_, other.view_);
    std::swap(tables_, other.tables_);
    std::swap(draws_, other.draws_);
    std::swap(sums_, other.sums_);
    std::swap(workspace_, other.workspace_);
    std::swap(step_, other.step_);
    std::swap(reset_, other.reset_);
    std::swap(advance_clock_, other.advance_clock_);
    std::swap(sum_totals_, other.sum_totals_);
    std::swap(head().beat, other.head().beat);
    std::swap(head().seed, other.head().seed);
    std::swap(head().progress_per_tick, other.head().progress_per_tick);
    std::swap(head().pool_chance, other.head().pool_chance);
    exchange_pools(other);
    for (Environment* const one : {this, &other}) {
        one->bind_arrays();
        one->bind_pool();
    }
}

std::unique_ptr<Program> Environment::run_instead(const Binary& stepwise) {
    auto other = std::make_unique<Program>(*on_, stepwise, settings_.source.filename().string(),
                                           ProgramText());
    on_->stream->synchronize();
    stepwise_->exchange_build(*other);
    take_kernels();
    show_view();
    return other;
}

// Snapshots of a field that both have stay; where they have another form, the other's come.
void Environment::exchange_pools(Environment& other) {
    std::swap(pool_, other.pool_);
    for (HeldPool& mine : pool_)
        for (HeldPool& its : other.pool_)
            if (mine.name == its.name && mine.dtype == its.dtype && mine.shape == its.shape)
                std::swap(mine.memory, its.memory);
}

// Data that still fits. What prepare() filled may be filled in another way now.
void Environment::share_tables(const Environment& other) {
    for (const HeldTable& held : other.tables_) {
        const Field* const mine = schema().find("param." + held.name);
        const Field& its = other.params_->field(held.name);
        const bool fits = mine && mine->kind == Kind::table && mine->dtype == its.dtype &&
                          mine->rank == its.rank &&
                          std::equal(mine->dims, mine->dims + mine->rank, its.dims);
        if (held.prepared || !fits) continue;
        bind_table(*mine, held.memory->data(), held.rows);
        tables_.push_back(held);
    }
}

void Environment::carry_from(const Environment& other) {
    for (const NamedArray& source : other.arrays_.all()) {
        NamedArray* const mine = arrays_.find(source.name());
        if (mine && same_form(*mine, source) && source.role() != Role::plugin)
            on_->stream->copy(mine->device(), source.device(), mine->bytes());
    }
    on_->stream->synchronize();
}

// The observations, masks and overviews of all states as the code that is loaded now sees them, at the
// tick of the last step; nothing else changes. An episode that has just ended must still count as such.
void Environment::look_again() {
    const uint64_t now = tick();
    std::vector<std::pair<NamedArray*, Buffer>> kept;
    for (NamedArray& array : arrays_.all()) {
        if (array.role() == Role::plugin) continue;
        kept.emplace_back(&array, Buffer(on_->device, array.bytes()));
        on_->stream->copy(kept.back().second.data(), array.device(), array.bytes());
    }
    set_tick(now > 0 ? now - 1 : 0);
    const ResetArgs args{.form = ResetArgs::look,
                         .ahead = 0,
                         .chosen = nullptr,
                         .count = settings_.count,
                         .places = 0,
                         .place = nullptr};
    launch(reset_, shape_of(args.count), args_of(args));
    std::string wrong;
    try {
        require_finite_observations();
    } catch (const Error& bad) {
        wrong = bad.what();
    }
    for (const auto& [array, copy] : kept) {
        const Role role = array->role();
        const bool seen = role == Role::obs || role == Role::mask || role == Role::global;
        if (!seen || !wrong.empty())
            on_->stream->copy(array->device(), copy.data(), array->bytes());
        else keep_rows_of_who_is_out(*array, copy);
    }
    set_tick(now);
    if (!wrong.empty()) throw Error(settings_.source.filename().string(), wrong);
}

// Who has gone out in the last step saw that step; looked at again he would see nothing any more.
void Environment::keep_rows_of_who_is_out(NamedArray& array, const Buffer& before) {
    const Field& field = *schema().find(array.name());
    const NamedArray* turn = nullptr;
    for (const Field& other : schema().fields())
        if (other.role == Role::turn && other.group == field.group && field.per == Per::row)
            turn = arrays_.find(other.name);
    if (!turn) return;
    const std::vector<uint8_t> turns = turn->host<uint8_t>();
    if (std::find(turns.begin(), turns.end(), uint8_t(Turn::out)) == turns.end()) return;
    std::vector<std::byte> now(array.bytes()), then(array.bytes());
    array.read(now.data());
    on_->stream->to_host(then.data(), before.data(), before.bytes());
    on_->stream->synchronize();
    const size_t width = now.size() / turns.size();
    for (size_t row = 0; row < turns.size(); ++row)
        if (turns[row] == uint8_t(Turn::out))
            std::memcpy(now.data() + row * width, then.data() + row * width, width);
    array.write_bytes(now.data(), array.count());
}

// A reset does not look whether what it observes is finite; the next step would, and would stop the run.
void Environment::require_finite_observations() {
    for (const NamedArray& array : arrays_.all()) {
        if (array.role() != Role::obs || array.dtype() != Dtype::f32) continue;
        const std::vector<float> values = array.host<float>();
        const auto bad = std::find_if_not(values.begin(), values.end(),
                                          [](float value) { return std::isfinite(value); });
        if (bad == values.end()) continue;
        const size_t env = size_t(bad - values.begin()) / (values.size() / settings_.count);
        throw Error(name_, array.name() + " of environment " + std::to_string(env) +
                               (std::isnan(*bad) ? " is not a number" : " is infinite"));
    }
}

}
