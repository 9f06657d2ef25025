#include "python/binding/actions.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/compile/compile_program.h"
#include "python/binding/guard.h"

#include <algorithm>
#include <atomic>

namespace nacelle::python {
namespace {

constexpr uint64_t no_fault = ~uint64_t(0);

bool is_real(TakenType type) { return type == TakenType::f32 || type == TakenType::f64; }

double number_at(const Actions::Given& given, uint64_t place) {
    double value = 0;
    detail::with_type(given.type, given.source,
                      [&](const auto* source) { value = double(source[place]); });
    return value;
}

// The program of a CPU, over blocks of rows.
void take_blocks(const void* given, uint64_t begin, uint64_t end) {
    const auto& args = *static_cast<const TakeActionsArgs*>(given);
    const uint64_t first = begin * args.threads, last = std::min(end * args.threads, args.rows);
    uint64_t fault = no_fault;
    detail::with_type(args.type, args.source, [&](const auto* source) {
        fault = detail::take_rows(args, source, first, last);
    });
    const std::atomic_ref<uint64_t> least(*args.fault);
    for (uint64_t seen = least; fault < seen && !least.compare_exchange_weak(seen, fault);) {}
}

const Kernel host_kernel{.name = "nacelle_take_actions",
                         .function = reinterpret_cast<void*>(&take_blocks)};

}

Actions::Actions(Environment& env) : env_(env) {
    const Header& header = env.schema().header();
    for (uint32_t g = 0; g < header.groups; ++g)
        groups_.push_back({.name = header.groups > 1 ? header.group[g].name : "",
                           .rows = uint64_t(env.count()) * header.group[g].count,
                           .parts = {},
                           .names = {},
                           .there = {}});
    for (const Field& field : env.schema().fields()) {
        if (field.role != Role::action) continue;
        Group& group = groups_[field.group];
        auto* const first = static_cast<std::byte*>(env.arrays()[field.name].device());
        for (uint32_t i = 0; i < field.count; ++i) {
            group.parts.push_back({.target = first + i * group.rows * dtype_size(field.dtype),
                                   .choices = field.kind == Kind::discrete ? field.choices : 0,
                                   .low = field.low,
                                   .high = field.high});
            group.names.push_back(std::string(field.name) +
                                  (field.count > 1 ? "[" + std::to_string(i) + "]" : ""));
        }
    }
    RunsOn& on = env.on();
    if (!on.cuda()) return;
    const Binary binary = compile_program(
        on, {}, {.instantiation = program_text, .headers = {}, .defines = {strict_define}});
    module_ = on.device->load(std::as_bytes(std::span(binary.image)));
    kernel_ = module_->kernel("nacelle_take_actions");
    faults_ = Buffer(on.device, groups_.size() * sizeof(uint64_t));
    on.stream->fill(faults_.data(), 0xff, faults_.bytes());
    for (Group& group : groups_) {
        const auto bytes = std::as_bytes(std::span(group.parts));
        group.there = Buffer(on.device, bytes.size());
        on.stream->to_device(group.there.data(), bytes.data(), bytes.size());
    }
    on.stream->synchronize();
}

TakeActionsArgs Actions::args_of(const Given& given) const {
    const Group& group = groups_.at(given.group);
    if (given.first_part + given.parts > group.parts.size())
        throw Error(env_.name(),
                    "an action has no part " + std::to_string(given.first_part + given.parts));
    if (given.numbers != group.rows * given.parts)
        throw std::invalid_argument(
            env_.name() + " takes actions of " + std::to_string(group.rows) + " x " +
            std::to_string(given.parts) + " numbers, not " + std::to_string(given.numbers));
    for (uint32_t k = 0; k < given.parts; ++k)
        if (group.parts[given.first_part + k].choices && is_real(given.type))
            throw nb::type_error((group.names[given.first_part + k] +
                                  " is a choice and takes whole numbers, not floats")
                                     .c_str());
    const auto* const parts =
        env_.on().cuda() ? static_cast<const TakenPart*>(group.there.data()) : group.parts.data();
    return {.source = given.source,
            .type = given.type,
            .parts = given.parts,
            .first = given.first_part,
            .width = uint32_t(group.parts.size()),
            .rows = group.rows,
            .part = parts + given.first_part,
            .fault = static_cast<uint64_t*>(faults_.data()) + given.group};
}

void Actions::take(const Given& given) {
    TakeActionsArgs args = args_of(given);
    uint64_t fault = no_fault;
    args.fault = &fault;
    launch(host_kernel, args);
    if (fault == no_fault) return;
    const uint64_t row = fault / args.width, k = fault % args.width - args.first;
    const double value = number_at(given, row * args.parts + k);
    say_fault(given.group, fault, &value);
}

void Actions::take_on_device(const Given& given) {
    const TakeActionsArgs args = args_of(given);
    if (!env_.on().device->reaches(given.source))
        throw std::invalid_argument("the actions are not in the memory of " +
                                    env_.on().device->info().name);
    launch(kernel_, args);
}

void Actions::launch(const Kernel& kernel, const TakeActionsArgs& args) {
    env_.on().stream->launch(kernel,
                             {.items = args.rows,
                              .threads = TakeActionsArgs::threads,
                              .items_per_block = TakeActionsArgs::threads},
                             nacelle::args_of(args));
}

void Actions::require_good() {
    if (!module_) return;
    RunsOn& on = env_.on();
    std::vector<uint64_t> faults(groups_.size());
    on.stream->to_host(faults.data(), faults_.data(), faults_.bytes());
    on.stream->synchronize();
    for (uint32_t group = 0; group < faults.size(); ++group) {
        if (faults[group] == no_fault) continue;
        on.stream->fill(faults_.data(), 0xff, faults_.bytes());
        say_fault(group, faults[group], nullptr);
    }
}

void Actions::say_fault(uint32_t number, uint64_t fault, const double* value) const {
    const Group& group = groups_[number];
    const uint64_t row = fault / group.parts.size(), part = fault % group.parts.size(),
                   agents = group.rows / env_.count();
    const TakenPart& wanted = group.parts[part];
    std::string text = group.names[part] + " of ";
    if (agents > 1) text += "agent " + std::to_string(row % agents) + " of ";
    text += "environment " + std::to_string(row / agents);
    if (!value) text += " was not allowed in a step before this call";
    else if (*value != *value) text += " is not a number";
    else text += " is " + shortest(*value);
    text += wanted.choices
                ? "; it is one of 0 to " + std::to_string(wanted.choices - 1)
                : "; it is from " + shortest(wanted.low) + " to " + shortest(wanted.high);
    throw std::invalid_argument(text);
}

}
