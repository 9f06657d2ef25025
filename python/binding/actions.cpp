#include "python/binding/actions.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "python/binding/gpu_program.h"
#include "python/binding/guard.h"

#include <algorithm>
#include <atomic>

namespace nacelle::python {
namespace {

constexpr const char* program_text =
    "#include <nacelle/programs/take_actions.h>\nNACELLE_TAKE_ACTIONS()\n";
constexpr uint64_t no_fault = ~uint64_t(0);

bool is_real(TakenType type) { return type == TakenType::f32 || type == TakenType::f64; }

double number_at(const Actions::Given& given, uint64_t place) {
    double value = 0;
    detail::with_type(given.type, given.source,
                      [&](const auto* source) { value = double(source[place]); });
    return value;
}

// Rows that one thread of a CPU takes: waking another one for fewer would take longer than they do.
uint32_t rows_together(const TakeActionsArgs& args) {
    constexpr uint32_t numbers = 8192;
    return std::max(1u, numbers / std::max(1u, args.parts));
}

// The program of a CPU, over blocks of rows.
void take_blocks(const void* given, uint64_t begin, uint64_t end) {
    const auto& args = *static_cast<const TakeActionsArgs*>(given);
    const uint64_t together = rows_together(args), first = begin * together,
                   last = std::min(end * together, args.rows);
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

Actions::Actions(Environment& env, PolicyAgents whose) : env_(env), whose_(std::move(whose)) {
    const size_t rows = size_t(env.count()) * whose_.of;
    for (const Field& field : env.schema().fields()) {
        if (field.role != Role::action || field.group != whose_.group) continue;
        auto* const first = static_cast<std::byte*>(env.arrays()[field.name].device());
        for (uint32_t i = 0; i < field.count; ++i) {
            parts_.push_back({.target = first + i * rows * dtype_size(field.dtype),
                              .choices = field.kind == Kind::discrete ? field.choices : 0,
                              .low = field.low,
                              .high = field.high});
            names_.push_back(std::string(field.name) +
                             (field.count > 1 ? "[" + std::to_string(i) + "]" : ""));
        }
    }
    RunsOn& on = env.on();
    if (!on.cuda()) return;
    module_ = load_program(on, program_text);
    kernel_ = module_->kernel("nacelle_take_actions");
    fault_ = Buffer(on.device, sizeof(uint64_t));
    on.stream->fill(fault_.data(), 0xff, fault_.bytes());
    const auto put = [&](Buffer& there, std::span<const std::byte> bytes) {
        there = Buffer(on.device, bytes.size());
        on.stream->to_device(there.data(), bytes.data(), bytes.size());
    };
    put(parts_there_, std::as_bytes(std::span(parts_)));
    put(ids_there_, std::as_bytes(std::span(whose_.ids)));
    on.stream->synchronize();
}

TakeActionsArgs Actions::args_of(const Given& given) const {
    const uint64_t rows = env_.count() * whose_.ids.size();
    if (given.numbers != rows * parts_.size())
        throw std::invalid_argument(env_.name() + " takes actions of " + std::to_string(rows) +
                                    " x " + std::to_string(parts_.size()) + " numbers, not " +
                                    std::to_string(given.numbers));
    for (size_t k = 0; k < parts_.size(); ++k)
        if (parts_[k].choices && is_real(given.type))
            throw nb::type_error(
                (names_[k] + " is a choice and takes whole numbers, not floats").c_str());
    return {.source = given.source,
            .type = given.type,
            .parts = uint32_t(parts_.size()),
            .rows = rows,
            .part = module_ ? static_cast<const TakenPart*>(parts_there_.data()) : parts_.data(),
            .fault = static_cast<uint64_t*>(fault_.data()),
            .id = whose_.all() ? nullptr
                  : module_    ? static_cast<const uint32_t*>(ids_there_.data())
                               : whose_.ids.data(),
            .agents = uint32_t(whose_.ids.size()),
            .of = whose_.of};
}

void Actions::take(const Given& given) {
    TakeActionsArgs args = args_of(given);
    uint64_t fault = no_fault;
    args.fault = &fault;
    launch(host_kernel, args);
    if (fault == no_fault) return;
    const double value = number_at(given, fault);
    say_fault(fault, &value);
}

void Actions::take_on_device(const Given& given) {
    const TakeActionsArgs args = args_of(given);
    if (!env_.on().device->reaches(given.source))
        throw std::invalid_argument("the actions are not in the memory of " +
                                    env_.on().device->info().name);
    launch(kernel_, args);
}

void Actions::launch(const Kernel& kernel, const TakeActionsArgs& args) {
    const uint32_t together = module_ ? TakeActionsArgs::threads : rows_together(args);
    env_.on().stream->launch(
        kernel,
        {.items = args.rows, .threads = TakeActionsArgs::threads, .items_per_block = together},
        nacelle::args_of(args));
}

void Actions::require_good() {
    if (!module_) return;
    Stream& stream = *env_.on().stream;
    uint64_t fault = no_fault;
    stream.to_host(&fault, fault_.data(), sizeof fault);
    stream.synchronize();
    if (fault == no_fault) return;
    stream.fill(fault_.data(), 0xff, fault_.bytes());
    say_fault(fault, nullptr);
}

void Actions::say_fault(uint64_t fault, const double* value) const {
    const size_t part = fault % parts_.size(), row = fault / parts_.size(),
                 agents = whose_.ids.size();
    const TakenPart& wanted = parts_[part];
    std::string text = names_[part] + " of ";
    if (env_.schema().header().is_team)
        text += whose_.name + " " + std::to_string(row % agents) + " in ";
    text += "environment " + std::to_string(row / agents);
    if (!value) text += " was not allowed";
    else if (*value != *value) text += " is not a number";
    else text += " is " + shortest(*value);
    text += wanted.choices
                ? "; it is one of 0 to " + std::to_string(wanted.choices - 1)
                : "; it is from " + shortest(wanted.low) + " to " + shortest(wanted.high);
    throw std::invalid_argument(text);
}

}
