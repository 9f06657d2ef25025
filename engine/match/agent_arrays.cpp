#include "engine/match/agent_arrays.h"

#include "engine/env/observed_numbers.h"

#include <algorithm>

namespace nacelle {

AgentArrays::AgentArrays(Environment& env, uint32_t group)
    : agents_(env.schema().header().group[group].count), rows_(size_t(agents_) * env.count()) {
    for (const Field* field : observed_arrays(env.schema(), group)) {
        NamedArray& array = env.arrays()[field->name];
        seen_.push_back({field->name, &array, field->count, std::vector<std::byte>(array.bytes())});
    }
    for (const Field& field : env.schema().fields()) {
        if (field.group != group || field.slot < 0 || field.per != Per::row) continue;
        NamedArray& array = env.arrays()[field.name];
        if (field.role == Role::action) add_action(field, array);
        else if (field.role == Role::mask) mask_ = &array;
        else if (field.role == Role::turn) turn_ = &array;
        else if (field.role == Role::reward) reward_ = &array;
    }
    if (mask_) masks_.resize(mask_->count());
    if (turn_) turns_.resize(turn_->count());
    rewards_.resize(rows_);
}

void AgentArrays::add_action(const Field& field, NamedArray& array) {
    const bool discrete = field.kind == Kind::discrete;
    for (size_t i = 0; i < field.count; ++i) {
        parts_.push_back({.done = done_.size(),
                          .place = i * rows_,
                          .choices = discrete ? field.choices : 0,
                          .low = field.low,
                          .high = field.high});
        choices_ += discrete ? size_t(field.choices) : 0;
    }
    done_.push_back({&array, std::vector<std::byte>(array.bytes())});
}

void AgentArrays::look() {
    for (Seen& seen : seen_) seen.array->read(seen.bytes.data());
    if (mask_) mask_->read(masks_.data());
    if (turn_) turn_->read(turns_.data());
}
void AgentArrays::read_rewards() { reward_->read(rewards_.data()); }

void AgentArrays::Seen::copy(size_t row, float* numbers) const {
    const Dtype dtype = array->dtype();
    const size_t size = dtype_size(dtype);
    const std::byte* const from = bytes.data() + row * count * size;
    if (dtype == Dtype::f32) std::copy_n(reinterpret_cast<const float*>(from), count, numbers);
    else
        for (size_t i = 0; i < count; ++i) numbers[i] = float(read_number(dtype, from + i * size));
}

void AgentArrays::observe(std::span<const uint32_t> rows, const PolicyDescription& policy,
                          std::vector<float>& numbers) const {
    const size_t inputs = policy.inputs();
    numbers.resize(rows.size() * inputs);
    float* place = numbers.data();
    for (const PolicyDescription::Array& array : policy.observation) {
        const auto seen = std::find_if(seen_.begin(), seen_.end(),
                                       [&](const Seen& one) { return one.name == array.name; });
        for (size_t i = 0; i < rows.size(); ++i) seen->copy(rows[i], place + i * inputs);
        place += array.count;
    }
}

void AgentArrays::mask(size_t row, uint8_t* open) const {
    if (mask_) std::copy_n(masks_.data() + row * choices_, choices_, open);
}

void AgentArrays::draw(size_t row, Rng& rng, float* action) const {
    const uint8_t* open = mask_ ? masks_.data() + row * choices_ : nullptr;
    for (const Part& part : parts_) {
        if (part.choices == 0) {
            *action++ = rng.uniform(part.low, part.high);
            continue;
        }
        const int choices = part.choices;
        int allowed = choices;
        if (open) allowed = int(std::count_if(open, open + choices, [](uint8_t o) { return o; }));
        int skip = rng.below(std::max(allowed, 1)), chosen = 0;
        for (int i = 0; i < choices; ++i)
            if ((!open || open[i]) && skip-- == 0) chosen = i;
        *action++ = float(chosen);
        if (open) open += choices;
    }
}

void AgentArrays::act(size_t row, const float* action) {
    for (const Part& part : parts_) {
        Done& done = done_[part.done];
        const Dtype dtype = done.array->dtype();
        write_number(dtype, done.bytes.data() + (part.place + row) * dtype_size(dtype),
                     double(*action++));
    }
}
void AgentArrays::write_actions() {
    for (const Done& done : done_) done.array->write_bytes(done.bytes.data(), done.array->count());
}

}
