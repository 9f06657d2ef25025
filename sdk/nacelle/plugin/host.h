#pragma once
#include <cstring>
#include <nacelle/plugin/abi.h>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace nacelle::plugin {

// What a plugin asks of its host: a light copy of the C table's address. Every call throws
// std::runtime_error with the host's reason where the host refuses.
class Host final {
public:
    explicit Host(const nacelle_host* host) : host_(host) {}

    // From any thread.
    void log(nacelle_level level, const std::string& text) const {
        host_->log(host_, level, text.c_str());
    }

    nacelle_environment environment() const {
        return answer<nacelle_environment>(host_->environment);
    }
    nacelle_array array(const std::string& name) const {
        return answer<nacelle_array>(host_->array, name.c_str());
    }
    // Zeroed, under "plugin.name"; persistent ones are part of checkpoints.
    nacelle_array array_create(const std::string& name, uint32_t dtype,
                               std::span<const int64_t> shape, bool persistent) const {
        return answer<nacelle_array>(host_->array_create, name.c_str(), dtype,
                                     static_cast<uint32_t>(shape.size()), shape.data(),
                                     uint32_t{persistent});
    }

    // Host memory to the device and back; both wait. Not within record().
    void write(void* target, const void* source, uint64_t bytes) const {
        ask(host_->write, target, source, bytes);
    }
    void read(void* target, const void* source, uint64_t bytes) const {
        ask(host_->read, target, source, bytes);
    }

    // Begins to compile `instantiation` behind the author's file; kernel() waits for it and throws where it
    // does not compile. Not within record().
    uint32_t program(const std::string& instantiation, std::span<const nacelle_header> headers = {},
                     std::span<const std::string> defines = {}) const {
        std::vector<const char*> texts;
        for (const std::string& define : defines) texts.push_back(define.c_str());
        uint32_t number = 0;
        ask(host_->program, instantiation.c_str(), headers.data(),
            static_cast<uint32_t>(headers.size()), texts.data(),
            static_cast<uint32_t>(texts.size()), &number);
        return number;
    }
    nacelle_kernel kernel(uint32_t program, const std::string& symbol) const {
        return answer<nacelle_kernel>(host_->kernel, program, symbol.c_str());
    }

    // One thread an item; `per_block` is the number that NACELLE_KERNEL was given.
    template <class Args>
    void launch(const nacelle_kernel& kernel, uint64_t items, uint32_t per_block, const Args& args,
                void* stream) const {
        launch(kernel,
               {.size = sizeof(nacelle_launch),
                .threads = per_block,
                .items_per_block = per_block,
                .shared_bytes = 0,
                .items = items,
                .cooperative = 0},
               args, stream);
    }
    template <class Args>
    void launch(const nacelle_kernel& kernel, const nacelle_launch& shape, const Args& args,
                void* stream) const {
        static_assert(std::is_trivially_copyable_v<Args>, "a kernel's arguments are plain data");
        ask(host_->launch, &kernel, &shape, static_cast<const void*>(&args),
            static_cast<uint32_t>(sizeof args), stream);
    }

    // A kernel of NACELLE_ENV_KERNEL, over all environments.
    template <class Args>
    void launch_environments(const nacelle_kernel& kernel, const Args& args, void* stream) const {
        static_assert(std::is_trivially_copyable_v<Args>, "a kernel's arguments are plain data");
        ask(host_->launch_environments, &kernel, static_cast<const void*>(&args),
            static_cast<uint32_t>(sizeof args), stream);
    }

    void advance(uint64_t ticks, void* stream) const { ask(host_->advance, ticks, stream); }
    void restart(void* stream) const { ask(host_->restart, stream); }
    // Replaces the data of a Table. Hooks only.
    void table(const std::string& param, uint32_t dtype, std::span<const int64_t> shape,
               const void* data) const {
        ask(host_->table, param.c_str(), dtype, static_cast<uint32_t>(shape.size()), shape.data(),
            data);
    }

private:
    template <class Function, class... Values>
    void ask(Function* function, Values... values) const {
        if (!function) throw std::runtime_error("the host offers this to hooks and learners only");
        if (function(host_, values...) != NACELLE_OK) throw std::runtime_error(host_->why(host_));
    }
    template <class Out, class Function, class... Values>
    Out answer(Function* function, Values... values) const {
        Out out{};
        out.size = sizeof out;
        ask(function, values..., &out);
        return out;
    }

    const nacelle_host* host_;
};

}
