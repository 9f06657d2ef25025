#pragma once
#include "engine/env/lazy_environment.h"
#include "engine/plugins/plugin_set.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <nacelle/plugin/abi.h>
#include <thread>

namespace nacelle {

// The part of a struct from across the boundary that its writer's version has; the rest is 0.
template <class Struct> Struct as_known(const Struct& given) {
    Struct known{};
    std::memcpy(&known, &given, std::min(size_t{given.size}, sizeof known));
    return known;
}

// The host's side of one plugin instance: the C table that the instance calls, bound to its environment, and the
// reasons of failures. Kernels and programs are numbers.
class HostServices final {
public:
    // Which call of the plugin runs; it decides which services are allowed.
    enum class CallContext { preparing, recording, running };

    // The kind of the instance decides which services exist.
    enum class InstanceKind { sink, learner, hook };

    // For a sink, which has no environment.
    HostServices(std::string plugin, const Log& log);
    HostServices(std::string plugin, Plugins& plugins, LazyEnvironment environment,
                 InstanceKind kind);
    ~HostServices();
    HostServices(const HostServices&) = delete;
    HostServices& operator=(const HostServices&) = delete;

    const nacelle_host* table() const { return &host_; }
    const std::string& plugin() const { return plugin_; }

    // Runs one call of the plugin. Where it returns false, throws "csv: the reason that the plugin gave".
    template <class Fn> void call(CallContext context, const char* function, Fn&& fn) {
        const Calling calling(*this, context);
        if (!fn() || !load_programs()) fail(function);
    }
    // Whether the plugin has asked for the ranks with which it trains.
    bool knows_ranks() const { return knows_ranks_; }
    // Makes the memory that it has asked for, once all ranks have an instance; all ranks call this.
    void connect_peers();
    // Looks all kernels up again, after their programs may have been rebuilt. A draft may leave some out, and have others
    // alone.
    void refresh_kernels();

private:
    class Calling final {
    public:
        Calling(HostServices& services, CallContext context);
        ~Calling() { services_.caller_ = std::thread::id(); }
        Calling(const Calling&) = delete;

    private:
        HostServices& services_;
    };
    struct KnownKernel {
        uint32_t program;
        std::string symbol;
        Kernel kernel;
        bool of_draft;    // found where a draft ran: the full build may have none
    };
    struct Calls;    // the C functions

    [[noreturn]] void fail(const char* function);
    // The environment; the first use creates it.
    Environment& env() const { return **environment_; }
    void forbid_recording(const char* what) const;
    void require_stream(void* stream) const;
    const KnownKernel& known(const nacelle_kernel&) const;

    void service(const char* name, const void** out);
    void describe(nacelle_environment* out);
    void array(const char* name, nacelle_array* out);
    void array_create(const char* name, uint32_t dtype, uint32_t rank, const int64_t* shape,
                      uint32_t persistent, nacelle_array* out);
    void write(void* target, const void* source, uint64_t bytes);
    void read(void* target, const void* source, uint64_t bytes);
    void program(const char* instantiation, const nacelle_header* headers, uint32_t header_count,
                 const char* const* defines, uint32_t define_count, uint32_t* out);
    void program_of_sizes(const char* instantiation, const nacelle_header* headers,
                          uint32_t header_count, const char* const* defines, uint32_t define_count,
                          uint32_t* out);
    void begin(const char* instantiation, bool of_sizes, const nacelle_header* headers,
               uint32_t header_count, const char* const* defines, uint32_t define_count,
               uint32_t* out);
    void kernel(uint32_t program, const char* symbol, nacelle_kernel* out);
    void launch(const nacelle_kernel* kernel, const nacelle_launch* launch, const void* args,
                uint32_t bytes, void* stream);
    void launch_environments(const nacelle_kernel* kernel, const void* args, uint32_t bytes,
                             void* stream);
    void ranks(nacelle_ranks* out);
    void peer_memory(uint64_t bytes, void** addresses, nacelle_peers* out);
    void all_reduce(void* data, uint64_t count, uint32_t dtype, uint32_t reduction, void* stream);
    void advance(uint64_t ticks, void* stream);
    void restart(void* stream);
    void replace_table(const char* param, uint32_t dtype, uint32_t rank, const int64_t* shape,
                       const void* data);

    void offer(const char* kind, const char* name, const void** out);

    // A requested program; it is loaded with its first kernel.
    struct AskedProgram {
        PendingProgram pending;
        bool of_sizes = false;
        Program* loaded = nullptr;
    };
    Program& loaded(AskedProgram& program);
    // Loads also the programs without a requested kernel; false where one does not compile.
    bool load_programs();

    std::string plugin_;
    Log log_;
    nacelle_host host_;
    InstanceKind kind_ = InstanceKind::sink;
    Plugins* plugins_ = nullptr;    // to be asked in create() alone
    std::vector<std::shared_ptr<const PluginLibrary>> opened_;
    std::optional<LazyEnvironment> environment_;
    std::shared_ptr<std::set<const NamedArray*>> arrays_in_use_;
    std::vector<const NamedArray*> arrays_;
    std::vector<AskedProgram> programs_;
    std::vector<KnownKernel> kernels_;
    struct AskedMemory {
        uint64_t bytes;
        void** addresses;    // of the device
        std::unique_ptr<PeerMemory> memory;
    };
    std::vector<AskedMemory> peers_;
    std::list<std::vector<std::byte>> schemas_;    // kept readable for the plugin
    std::atomic<std::thread::id> caller_{};        // none while no call runs
    CallContext context_ = CallContext::preparing;
    bool knows_ranks_ = false;
    std::string why_;    // of the last refusal
    std::mutex reason_mutex_;
    std::string reason_;    // the plugin's fail(), from any thread
};

}
