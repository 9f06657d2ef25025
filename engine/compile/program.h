#pragma once
#include "engine/compile/backend.h"
#include "engine/compile/schema.h"

#include <nacelle/programs/arguments.h>

namespace nacelle {

// Loaded kernels around an author's functions, of the engine or of a plugin. A reload replaces their code; kernels
// must then be looked up again.
class Program final {
public:
    // `what` names it in messages; `parts` have further kernels of it, where it was compiled in parts.
    Program(RunsOn& on, const Binary& binary, const std::string& what,
            std::span<const Binary> parts = {});

    // Grows with each reload.
    uint64_t generation() const { return generation_; }
    const EnvSchema& schema() const { return code_->schema; }
    const std::vector<std::byte>& defaults() const { return code_->defaults; }
    bool is_draft() const { return code_->draft; }
    bool has_kernel(const std::string& name) const;
    Kernel kernel(const std::string& name);
    // Sets the view: in constant memory on a GPU; the kernels of a CPU get its address.
    void set_view(Stream& stream, std::span<const std::byte> view);
    // The address that was last set.
    const void* view() const { return view_; }
    double milliseconds() const { return code_->milliseconds; }
    bool from_cache() const { return code_->from_cache; }

    // Swaps the code of both programs; a schema keeps its address.
    void exchange(Program& other);
    // Swaps with another build of the same source: the schema, which others refer to, stays.
    void exchange_build(Program& other);

private:
    struct Code {
        EnvSchema schema;
        std::vector<std::byte> defaults;
        std::vector<std::unique_ptr<Module>> modules;    // at least one
        double milliseconds;
        bool from_cache, draft;
    };

    std::unique_ptr<Code> code_;
    const void* view_ = nullptr;
    uint64_t generation_ = 1;
};

// The launch of one of the engine's own kernels: one thread an item.
inline LaunchShape thread_each(uint64_t items) {
    return {.items = items, .threads = kernel_block, .items_per_block = kernel_block};
}

// The launch of a kernel whose items are some or all environments, as their schema asks.
inline LaunchShape env_shape(const Header& header, uint64_t some, uint64_t all) {
    return {.items = some * threads_of_env(header.is_team, header.env_threads, all),
            .threads = header.block_threads,
            .items_per_block = header.block_threads,
            .shared_bytes = header.shared_bytes,
            .cluster = header.cluster_blocks};
}

// Runs a kernel on either backend; a CPU gets the view in front of the arguments.
void launch_program(RunsOn& on, Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                    const void* view, std::span<const std::byte> args);
template <class Args> std::span<const std::byte> args_of(const Args& args) {
    return {reinterpret_cast<const std::byte*>(&args), sizeof args};
}

}
