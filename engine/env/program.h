#pragma once
#include "engine/env/backend.h"
#include "engine/env/schema.h"

#include <future>
#include <nacelle/programs/arguments.h>

namespace nacelle {

// What a program is built from, besides the author's file: an instantiation, and headers that it needs.
struct ProgramText {
    std::string instantiation;
    std::vector<MemoryHeader> headers;
    std::vector<std::string> defines;
    std::vector<std::string> options = {};    // further flags of the host's compiler
};

// Compiles the author's file with what stands behind it. Throws where it was cancelled. As a draft it is
// there sooner and runs slower, where the compiler knows such a way.
Compiled compile_program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text,
                         const std::atomic<bool>* cancel = nullptr, bool draft = false,
                         bool aside = false);
// Compiler::get_ready_beside() for such a program.
bool get_ready_beside(RunsOn& on, const std::filesystem::path& author, const ProgramText& text);
// The binary, or the diagnostics thrown as an Error.
Binary binary_or_error(Compiled compiled);

// A program that compiles on a thread of its own.
struct PendingProgram {
    ProgramText text;
    uint64_t version = 0;    // of the environment, when it began
    std::future<Compiled> compiled;
};

// Kernels around an author's functions, compiled and loaded. The engine's own and those of
// plugins are made the same way. A reload puts other code into it; kernels must then be asked for anew.
class Program final {
public:
    // Throws the diagnostics as an Error where the text does not compile.
    Program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text);
    Program(RunsOn& on, const Binary& binary, const std::string& what, ProgramText text);

    const ProgramText& text() const { return text_; }
    // Grows with each reload.
    uint64_t generation() const { return generation_; }
    const EnvSchema& schema() const { return code_->schema; }
    const std::vector<std::byte>& defaults() const { return code_->defaults; }
    Kernel kernel(const std::string& name) { return code_->module->kernel(name); }
    // Gives this program the view: into constant memory on a GPU; a CPU's kernels get its address.
    void set_view(Stream& stream, std::span<const std::byte> view);
    double milliseconds() const { return code_->milliseconds; }
    bool from_cache() const { return code_->from_cache; }

    // Each gets the other's code; a schema keeps its address.
    void exchange(Program& other);
    // The same with another build of the same source: a schema stays with whoever refers to it.
    void exchange_build(Program& other);

private:
    struct Code {
        EnvSchema schema;
        std::vector<std::byte> defaults;
        std::unique_ptr<Module> module;
        double milliseconds;
        bool from_cache;
    };

    ProgramText text_;
    std::unique_ptr<Code> code_;
    uint64_t generation_ = 1;
};

// The launch of one of the engine's own kernels: a thread for each item.
inline LaunchShape thread_each(uint64_t items) {
    return {.items = items, .threads = kernel_block, .items_per_block = kernel_block};
}

// The launch of a kernel whose items are environments, by what their schema wants.
inline LaunchShape env_shape(const Header& header, uint64_t envs) {
    return {.items = envs * header.env_threads,
            .threads = header.block_threads,
            .items_per_block = header.block_threads,
            .shared_bytes = header.shared_bytes,
            .cluster = header.cluster_blocks};
}

// Runs a kernel on either backend: the view goes before the arguments where a CPU needs it.
void launch_program(RunsOn& on, Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                    const void* view, std::span<const std::byte> args);
template <class Args> std::span<const std::byte> args_of(const Args& args) {
    return {reinterpret_cast<const std::byte*>(&args), sizeof args};
}

}
