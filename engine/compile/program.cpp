#include "engine/compile/program.h"

#include "engine/base/elf.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cstring>
#include <nacelle/kernel.h>

namespace nacelle {
namespace {

std::vector<std::byte> defaults_of(std::span<const std::byte> elf, size_t size,
                                   const std::string& what) {
    std::vector<std::byte> bytes(size);
    // An all-zero default lies in .bss, which has no bytes in the file.
    if (const auto found = elf_symbol(elf, "nacelle_defaults", what);
        found && found->size() >= size)
        std::memcpy(bytes.data(), found->data(), size);
    return bytes;
}

}

Program::Program(RunsOn& on, const Binary& binary, const std::string& what,
                 std::span<const Binary> parts) {
    const std::vector<std::byte> elf = binary.elf();
    EnvSchema schema = EnvSchema::read(elf, what);
    std::vector<std::byte> defaults = defaults_of(elf, schema.header().params_size, what);
    code_ = std::make_unique<Code>(Code{std::move(schema),
                                        std::move(defaults),
                                        {},
                                        binary.milliseconds,
                                        binary.from_cache,
                                        binary.draft});
    const auto load = [&](const Binary& part) {
        code_->modules.push_back(on.device->load(std::as_bytes(std::span(part.image))));
    };
    load(binary);
    std::ranges::for_each(parts, load);
}

bool Program::has_kernel(const std::string& name) const {
    return std::ranges::any_of(code_->modules,
                               [&](const auto& module) { return module->has_kernel(name); });
}
Kernel Program::kernel(const std::string& name) {
    const auto found = std::ranges::find_if(
        code_->modules, [&](const auto& module) { return module->has_kernel(name); });
    return (found == code_->modules.end() ? code_->modules.front() : *found)->kernel(name);
}

void Program::set_view(Stream& stream, std::span<const std::byte> view) {
    view_ = view.data();
    for (const auto& module : code_->modules) {
        const Symbol symbol = module->symbol("nacelle_view");
        if (symbol.address) stream.to_device(symbol.address, view.data(), view.size());
    }
}

void Program::exchange(Program& other) {
    other.code_ = std::exchange(code_, std::move(other.code_));
    ++generation_;
    ++other.generation_;
}

void Program::exchange_build(Program& other) {
    Code &mine = *code_, &its = *other.code_;
    std::swap(its.modules, mine.modules);
    its.milliseconds = std::exchange(mine.milliseconds, its.milliseconds);
    its.from_cache = std::exchange(mine.from_cache, its.from_cache);
    its.draft = std::exchange(mine.draft, its.draft);
    ++generation_;
    ++other.generation_;
}

void launch_program(RunsOn& on, Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                    const void* view, std::span<const std::byte> args) {
    if (on.cuda()) return stream.launch(kernel, shape, args);
    std::vector<std::byte> call(sizeof(Call) + args.size());
    const Call head{view};
    std::memcpy(call.data(), &head, sizeof head);
    if (!args.empty()) std::memcpy(call.data() + sizeof head, args.data(), args.size());
    stream.launch(kernel, shape, call);
}

}
