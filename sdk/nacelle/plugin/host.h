#pragma once
#include <nacelle/plugin/schema_view.h>
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
        return answer<nacelle_environment>(&nacelle_environment_service::describe);
    }
    nacelle_array array(const std::string& name) const {
        return answer<nacelle_array>(&nacelle_environment_service::array, name.c_str());
    }
    // Zeroed, under "plugin.name"; persistent ones are part of checkpoints. Not within record().
    nacelle_array array_create(const std::string& name, uint32_t dtype,
                               std::span<const int64_t> shape, bool persistent) const {
        return array_create(name, dtype, shape, persistent ? Kept::by_all : Kept::not_at_all);
    }
    // Whether it is part of checkpoints: as one that is the same on all ranks, or as each rank's part of it, whose first,
    // or second, dimension runs over environments.
    enum class Kept : uint32_t { not_at_all, by_all, by_each, by_each_in_rows };
    nacelle_array array_create(const std::string& name, uint32_t dtype,
                               std::span<const int64_t> shape, Kept kept) const {
        return answer<nacelle_array>(&nacelle_arrays_service::create, name.c_str(), dtype,
                                     static_cast<uint32_t>(shape.size()), shape.data(),
                                     uint32_t(kept));
    }

    // Host memory to the device and back; both wait. Not within record().
    void write(void* target, const void* source, uint64_t bytes) const {
        ask(&nacelle_arrays_service::write, target, source, bytes);
    }
    void read(void* target, const void* source, uint64_t bytes) const {
        ask(&nacelle_arrays_service::read, target, source, bytes);
    }

    // Begins to compile `instantiation` behind the author's file; kernel() waits for it and throws where it
    // does not compile. Not within record().
    uint32_t program(const std::string& instantiation, std::span<const nacelle_header> headers = {},
                     std::span<const std::string> defines = {}) const {
        return begin_program(&nacelle_kernels_service::program, instantiation, headers, defines);
    }
    // The same for kernels that need the environment's sizes alone: a save leaves it as it is.
    uint32_t program_of_sizes(const std::string& instantiation,
                              std::span<const nacelle_header> headers = {},
                              std::span<const std::string> defines = {}) const {
        return begin_program(&nacelle_kernels_service::program_of_sizes, instantiation, headers,
                             defines);
    }
    nacelle_kernel kernel(uint32_t program, const std::string& symbol) const {
        return answer<nacelle_kernel>(&nacelle_kernels_service::kernel, program, symbol.c_str());
    }

    // One thread an item; `per_block` is the number that NACELLE_KERNEL was given.
    template <class Args>
    void launch(const nacelle_kernel& kernel, uint64_t items, uint32_t per_block, const Args& args,
                void* stream) const {
        nacelle_launch shape{};
        shape.threads = per_block;
        shape.items = items;
        launch(kernel, shape, args, stream);
    }
    // Its `size` is set here.
    template <class Args>
    void launch(const nacelle_kernel& kernel, nacelle_launch shape, const Args& args,
                void* stream) const {
        static_assert(std::is_trivially_copyable_v<Args>, "a kernel's arguments are plain data");
        shape.size = sizeof shape;
        ask(&nacelle_kernels_service::launch, &kernel, &shape, &args, uint32_t{sizeof args},
            stream);
    }
    // A kernel of NACELLE_ENV_KERNEL, over all environments.
    template <class Args>
    void launch_environments(const nacelle_kernel& kernel, const Args& args, void* stream) const {
        static_assert(std::is_trivially_copyable_v<Args>, "a kernel's arguments are plain data");
        ask(&nacelle_kernels_service::launch_environments, &kernel, &args, uint32_t{sizeof args},
            stream);
    }

    nacelle_ranks ranks() const { return answer<nacelle_ranks>(&nacelle_ranks_service::describe); }
    // Memory of each rank that kernels of all read and write, where ranks() has `peers`. Its addresses are written to the
    // device's memory, before the first kernel runs. In create() alone.
    nacelle_peers peer_memory(uint64_t bytes, void** addresses) const {
        return answer<nacelle_peers>(&nacelle_ranks_service::peer_memory, bytes, addresses);
    }
    // The numbers of all ranks together, for all of them.
    void all_reduce(float* data, uint64_t count, nacelle_reduction reduction, void* stream) const {
        ask(&nacelle_ranks_service::all_reduce, data, count, uint32_t{NACELLE_F32},
            uint32_t(reduction), stream);
    }
    void all_reduce(double* data, uint64_t count, nacelle_reduction reduction, void* stream) const {
        ask(&nacelle_ranks_service::all_reduce, data, count, uint32_t{NACELLE_F64},
            uint32_t(reduction), stream);
    }

    void advance(uint64_t ticks, void* stream) const {
        ask(&nacelle_clock_service::advance, ticks, stream);
    }
    void restart(void* stream) const { ask(&nacelle_clock_service::restart, stream); }
    // Replaces the data of a Table. Hooks only.
    void table(const std::string& param, uint32_t dtype, std::span<const int64_t> shape,
               const void* data) const {
        ask(&nacelle_tables_service::replace, param.c_str(), dtype,
            static_cast<uint32_t>(shape.size()), shape.data(), data);
    }

    // What a plugin offers, of a kind that this one knows; it lives as long as this one's instance. In create() alone.
    const void* offer(const std::string& kind, const std::string& name) const {
        const void* found = nullptr;
        ask(&nacelle_plugins_service::offer, kind.c_str(), name.c_str(), &found);
        return found;
    }

private:
    template <class Function>
    uint32_t begin_program(Function* nacelle_kernels_service::*member,
                           const std::string& instantiation,
                           std::span<const nacelle_header> headers,
                           std::span<const std::string> defines) const {
        std::vector<const char*> texts;
        for (const std::string& define : defines) texts.push_back(define.c_str());
        uint32_t number = 0;
        ask(member, instantiation.c_str(), headers.data(), static_cast<uint32_t>(headers.size()),
            texts.data(), static_cast<uint32_t>(texts.size()), &number);
        return number;
    }
    template <class Service> static constexpr const char* name_of() {
        if constexpr (std::is_same_v<Service, nacelle_environment_service>) return "environment/1";
        else if constexpr (std::is_same_v<Service, nacelle_arrays_service>) return "arrays/1";
        else if constexpr (std::is_same_v<Service, nacelle_kernels_service>) return "kernels/1";
        else if constexpr (std::is_same_v<Service, nacelle_clock_service>) return "clock/1";
        else if constexpr (std::is_same_v<Service, nacelle_ranks_service>) return "ranks/1";
        else if constexpr (std::is_same_v<Service, nacelle_plugins_service>) return "plugins/1";
        else {
            static_assert(std::is_same_v<Service, nacelle_tables_service>);
            return "tables/1";
        }
    }
    template <class Service, class Function, class... Values>
    void ask(Function* Service::*member, Values... values) const {
        const auto* const service =
            static_cast<const Service*>(host_->get(host_, name_of<Service>()));
        if (!service) throw std::runtime_error(host_->why(host_));
        const auto* const end = reinterpret_cast<const char*>(&(service->*member) + 1);
        if (end - reinterpret_cast<const char*>(service) > ptrdiff_t{service->size})
            throw std::runtime_error(std::string("this host is too old: its ") +
                                     name_of<Service>() + " lacks what the plugin asks for");
        if ((service->*member)(host_, values...) != NACELLE_OK)
            throw std::runtime_error(host_->why(host_));
    }
    template <class Out, class Service, class Function, class... Values>
    Out answer(Function* Service::*member, Values... values) const {
        Out out{};
        out.size = sizeof out;
        ask(member, values..., &out);
        return out;
    }

    const nacelle_host* host_;
};

}
