#include "engine/env/program.h"

#include "engine/base/elf.h"
#include "engine/base/error.h"
#include "engine/env/embedded_sdk.h"
#include "engine/env/settings.h"

#include <algorithm>
#include <cstring>
#include <nacelle/kernel.h>

namespace nacelle {
namespace {

// "file:line: error: ...", with the line of the file below.
Error as_error(const Diagnostics& wrong) {
    std::string text = wrong.text();
    while (text.ends_with('\n')) text.pop_back();
    const size_t split = text.find(": ");
    if (split == std::string::npos) return Error("compiler", text);
    return Error(text.substr(0, split), text.substr(split + 2));
}

std::vector<std::byte> defaults_of(std::span<const std::byte> elf, size_t size,
                                   const std::string& what) {
    std::vector<std::byte> bytes(size);
    // An all-zero default lies in .bss, which has no bytes in the file.
    if (const auto found = elf_symbol(elf, "nacelle_defaults", what);
        found && found->size() >= size)
        std::memcpy(bytes.data(), found->data(), size);
    return bytes;
}

ProgramSource source_of(RunsOn& on, const std::filesystem::path& author, const ProgramText& text) {
    ProgramSource source{.author = author,
                         .headers = {},
                         .instantiation = text.instantiation,
                         .defines = text.defines,
                         .options = text.options};
    const bool strict = std::ranges::find(text.defines, strict_define) != text.defines.end();
    if (on.cuda()) source.options = gpu_arithmetic(strict);
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    source.headers.insert(source.headers.end(), text.headers.begin(), text.headers.end());
    return source;
}

}

Compiled compile_program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text,
                         const std::atomic<bool>* cancel, bool draft, bool aside) {
    ProgramSource source = source_of(on, author, text);
    source.draft = draft;
    source.aside = aside;
    return on.compiler->compile(source, cancel);
}

bool get_ready_beside(RunsOn& on, const std::filesystem::path& author, const ProgramText& text) {
    return on.compiler->get_ready_beside(source_of(on, author, text));
}

Binary binary_or_error(Compiled compiled) {
    if (const auto* const wrong = std::get_if<Diagnostics>(&compiled)) throw as_error(*wrong);
    return std::get<Binary>(std::move(compiled));
}

Program::Program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text)
    : Program(on, binary_or_error(compile_program(on, author, text)), author.filename().string(),
              text) {}

Program::Program(RunsOn& on, const Binary& binary, const std::string& what, ProgramText text)
    : text_(std::move(text)) {
    const std::vector<std::byte> elf = binary.elf();
    EnvSchema schema = EnvSchema::read(elf, what);
    std::vector<std::byte> defaults = defaults_of(elf, schema.header().params_size, what);
    code_ = std::make_unique<Code>(Code{std::move(schema), std::move(defaults),
                                        on.device->load(binary.image), binary.milliseconds,
                                        binary.from_cache});
}

void Program::set_view(Stream& stream, std::span<const std::byte> view) {
    const Symbol symbol = code_->module->symbol("nacelle_view");
    if (symbol.address) stream.to_device(symbol.address, view.data(), view.size());
}

void Program::exchange(Program& other) {
    other.code_ = std::exchange(code_, std::move(other.code_));
    ++generation_;
    ++other.generation_;
}

void Program::exchange_build(Program& other) {
    Code &mine = *code_, &its = *other.code_;
    its.module = std::exchange(mine.module, std::move(its.module));
    its.milliseconds = std::exchange(mine.milliseconds, its.milliseconds);
    its.from_cache = std::exchange(mine.from_cache, its.from_cache);
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
