#include "python/binding/step_outputs.h"

#include "engine/base/error.h"
#include "python/binding/gpu_program.h"

#include <nacelle/device/loop/places.h>

#include <cstring>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

constexpr const char* program_text = "#include <nacelle/programs/hand_out.h>\nNACELLE_HAND_OUT()\n";

constexpr uint64_t most_places = 512;    // of ended environments, looked for at once

void copy_bytes(const HandedPart& part, uint64_t first, uint64_t last) {
    std::memcpy(static_cast<std::byte*>(part.target) + first,
                static_cast<const std::byte*>(part.first) + first, last - first);
}

// Rows of ended environments: the places of some of them, counted from one.
void copy_rows(const HandedPart& part, size_t row, uint64_t from, std::span<const int> places) {
    auto* const target = static_cast<std::byte*>(part.target) + from * row;
    const auto* const first = static_cast<const std::byte*>(part.first) + from * row;
    const auto copy = [&](auto bytes) {
        for (const int place : places)
            std::memcpy(target + size_t(place) * bytes, first + size_t(place) * bytes, bytes);
    };
    if (row == 4) copy(std::integral_constant<size_t, 4>());    // no call
    else copy(row);
}

// Whether a step itself fills the target of the array with this name, beside what the next step reads. Of returns and
// lengths it has those of ended episodes.
bool is_copied(StepCopies& copies, const std::string& name, bool late, void* target) {
    if (name == "terminated") copies.terminated = static_cast<uint8_t*>(target);
    else if (name == "truncated") copies.truncated = static_cast<uint8_t*>(target);
    else if (late && name == "episode.return") copies.last_return = static_cast<float*>(target);
    else if (late && name == "episode.length") copies.last_length = static_cast<int32_t*>(target);
    else return false;
    return true;
}

// The program of a CPU: a share of each part, so that the threads that stepped the rows copy them.
constexpr uint64_t shares = 256;
void hand_out_shares(const void* given, uint64_t begin, uint64_t end) {
    const auto& args = *static_cast<const HandOutArgs*>(given);
    for (uint32_t k = 0; k < args.parts; ++k) {
        const HandedPart& part = args.part[k];
        const uint64_t first = part.bytes * begin / shares, last = part.bytes * end / shares;
        if (part.second) detail::hand_out_bytes(part, first, last);
        else copy_bytes(part, first, last);
    }
}

const Kernel host_kernel{.name = "nacelle_hand_out",
                         .function = reinterpret_cast<void*>(&hand_out_shares)};

}

StepOutputs::StepOutputs(std::shared_ptr<EngineUse> use, Environment& env,
                         const std::vector<std::string>& names, size_t late)
    : use_(std::move(use)),
      on_(env.code().on),
      terminated_(env.arrays()["terminated"].memory()),
      truncated_(env.arrays()["truncated"].memory()),
      alone_(!env.schema().header().is_team && !on_->cuda()),
      late_(late) {
    const auto add = [&](std::shared_ptr<const Buffer> memory, const std::string& name, Dtype dtype,
                         const std::vector<int64_t>& shape) {
        arrays_.push_back(
            std::make_shared<DeviceArray>(use_, on_, std::move(memory), name, dtype, shape));
        by_rows_.push_back(shape.front() == int64_t(env.count()));
    };
    written_.push_back(alone_);
    add(std::make_shared<const Buffer>(on_->device, env.count()), "done", Dtype::b8, {env.count()});
    for (const std::string& name : names) {
        const NamedArray& array = env.arrays()[name];
        add(array.memory(), name, array.dtype(), array.shape());
        const Role role = array.role();
        written_.push_back(alone_ &&
                           (role == Role::obs || role == Role::final_obs || role == Role::reward));
    }
    if (!on_->cuda()) return;
    module_ = load_program(*on_, program_text);
    kernel_ = module_->kernel("nacelle_hand_out");
}

StepOutputs::~StepOutputs() {
    if (!use_->is_forked()) return;
    for (auto* const memory : {&terminated_, &truncated_}) new auto(std::move(*memory));
    new auto(std::move(on_));    // never given back: the child has no device
    module_.release();
}

HandedPart StepOutputs::part_of(size_t array, void* target) const {
    const bool joined = array == 0;
    return {.target = target,
            .first = (joined ? terminated_ : arrays_[array]->memory())->data(),
            .second = joined ? truncated_->data() : nullptr,
            .bytes = arrays_[array]->bytes()};
}

void StepOutputs::launch(std::span<const HandedPart> parts) {
    HandOutArgs args;
    while (!parts.empty()) {
        args.parts = uint32_t(std::min(parts.size(), size_t(HandOutArgs::most)));
        uint64_t units = 0;
        for (uint32_t k = 0; k < args.parts; ++k) {
            args.part[k] = parts[k];
            units += detail::handed_units(parts[k].bytes);
        }
        parts = parts.subspan(args.parts);
        if (module_)
            on_->stream->launch(kernel_,
                                {.items = units,
                                 .threads = HandOutArgs::threads,
                                 .items_per_block = HandOutArgs::threads},
                                args_of(args));
        else
            on_->stream->launch(host_kernel, {.items = shares, .threads = 1, .items_per_block = 1},
                                args_of(args));
    }
}

void StepOutputs::require_targets(size_t count) const {
    if (count != 0 && count != arrays_.size())
        throw std::invalid_argument("there are " + std::to_string(count) + " targets; " +
                                    std::to_string(arrays_.size()) +
                                    " are taken, one for each array, or none");
}

bool StepOutputs::step(Environment& env, Targets targets, bool written) {
    written = written && !targets.empty();
    bool ended = false;
    if (alone_) ended = step_and_hand_out(env, targets, written);
    else {
        env.step();
        ended = hand_out(targets);
    }
    try {
        env.check_finite();
    } catch (const Error&) {
        if (!written) throw;
        // It says which number it was, by the arrays themselves.
        for (size_t i = 1; i < targets.size(); ++i)
            if (written_[i])
                on_->stream->to_device(arrays_[i]->memory()->data(), targets[i],
                                       arrays_[i]->bytes());
        env.check_finite();
    }
    return ended;
}

// Each thread hands out the rows that it has stepped.
bool StepOutputs::step_and_hand_out(Environment& env, Targets targets, bool written) {
    struct Rows {
        HandedPart part;
        size_t row;    // bytes
    };
    std::vector<Elsewhere> elsewhere;
    std::vector<Rows> rows, late_rows;
    std::vector<std::pair<HandedPart, bool>> whole;
    bool ended = false;
    auto* const done = static_cast<uint8_t*>(written ? targets[0] : arrays_[0]->memory()->data());
    StepCopies copies{.done = done,
                      .terminated = nullptr,
                      .truncated = nullptr,
                      .last_return = nullptr,
                      .last_length = nullptr,
                      .any_done = &ended};
    for (size_t i = written ? 1 : 0; i < targets.size(); ++i) {
        const std::string& name = arrays_[i]->name();
        const bool late = i + late_ >= arrays_.size();
        HandedPart part = part_of(i, targets[i]);
        if (i == 0) part = {targets[0], done, nullptr, part.bytes};
        if (written && written_[i]) elsewhere.push_back({name, targets[i]});
        else if (i > 0 && is_copied(copies, name, late, targets[i])) continue;
        else if (by_rows_[i])
            (late ? late_rows : rows).push_back({part, size_t(part.bytes / env.count())});
        else whole.emplace_back(part, late);
    }
    const auto behind = [&](uint64_t first, uint64_t last) {
        for (const auto& [part, row] : rows) copy_bytes(part, first * row, last * row);
        int places[most_places];
        for (; first < last && !late_rows.empty(); first += most_places) {
            const int count = int(std::min(last - first, most_places)),
                      found = detail::places_of(done + first, count, places);
            for (const auto& [part, row] : late_rows)
                copy_rows(part, row, first, {places, size_t(found)});
        }
    };
    const bool by_rows = !rows.empty() || !late_rows.empty();
    env.step_into(elsewhere, copies, by_rows ? Environment::Behind(behind) : nullptr);
    std::vector<HandedPart> parts;
    for (const auto& [part, late] : whole)
        if (ended || !late) parts.push_back(part);
    launch(parts);
    return ended;
}

bool StepOutputs::hand_out(Targets targets) {
    const size_t environments = arrays_[0]->bytes();
    const bool there = module_ != nullptr;
    std::vector<uint8_t> read;
    void* done = arrays_[0]->memory()->data();
    if (there) {
        const HandedPart part = part_of(0, done);
        launch({&part, 1});
        read.resize(environments);
        on_->stream->to_host(read.data(), done, environments);
        on_->stream->synchronize();
        done = read.data();
    } else detail::hand_out_bytes(part_of(0, done), 0, environments);
    const bool ended = std::memchr(done, 1, environments) != nullptr;
    if (targets.empty()) return ended;
    std::memcpy(targets[0], done, environments);
    std::vector<HandedPart> copies;
    for (size_t i = 1; i + (ended ? 0 : late_) < arrays_.size(); ++i) {
        const HandedPart part = part_of(i, targets[i]);
        if (there) on_->stream->to_host(part.target, part.first, part.bytes);
        else copies.push_back(part);
    }
    launch(copies);
    on_->stream->synchronize();
    return ended;
}

void StepOutputs::hand_out_on_device(Targets targets) {
    std::vector<HandedPart> parts{part_of(0, arrays_[0]->memory()->data())};
    if (!targets.empty()) parts.clear();
    for (size_t i = 0; i < targets.size(); ++i) parts.push_back(part_of(i, targets[i]));
    launch(parts);
}

void bind_step_outputs(nb::module_& module) {
    nb::class_<StepOutputs>(module, "StepOutputs", "What each step leaves for a caller.")
        .def_prop_ro("arrays",
                     [](const StepOutputs& self) {
                         nb::list arrays;
                         for (const auto& array : self.arrays()) arrays.append(array);
                         return arrays;
                     })
        .def_prop_ro("written", [](const StepOutputs& self) {
            nb::list written;
            for (size_t i = 0; i < self.arrays().size(); ++i) written.append(self.is_written(i));
            return written;
        });
}

}
