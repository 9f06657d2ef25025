#pragma once
#include "engine/env/environment.h"
#include "engine/plugins/plugin_set.h"

#include <atomic>
#include <list>
#include <mutex>
#include <nacelle/plugin/abi.h>
#include <thread>

namespace nacelle {

// The host's side of one instance of a plugin: the C table that the instance asks, bound to the
// environment that it works on, and the reasons of what fails. Kernels and programs are numbers.
class HostServices final {
public:
    // What the plugin is called for decides what it may ask.
    enum class Moment { preparing, recording, running };

    // For a sink, which has no environment.
    HostServices(std::string plugin, const Log& log);
    // `tables`: whether Tables may be replaced.
    HostServices(std::string plugin, const Plugins& plugins, Environment& environment, bool tables);
    ~HostServices();
    HostServices(const HostServices&) = delete;
    HostServices& operator=(const HostServices&) = delete;

    const nacelle_host* table() const { return &table_; }
    const std::string& plugin() const { return plugin_; }

    // Runs one call of the plugin. Where it gives false: "csv: the reason that the plugin gave".
    template <class Fn> void call(Moment moment, const char* function, Fn&& fn) {
        const Calling calling(*this, moment);
        if (!fn() || !load_programs()) fail(function);
    }
    // Looks all kernels up again: their programs may have been rebuilt.
    void refresh_kernels();

private:
    class Calling final {
    public:
        Calling(HostServices& services, Moment moment);
        ~Calling() { services_.caller_ = std::thread::id(); }
        Calling(const Calling&) = delete;

    private:
        HostServices& services_;
    };
    struct KnownKernel {
        uint32_t program;
        std::string symbol;
        Kernel kernel;
    };
    struct Table;    // the C functions

    [[noreturn]] void fail(const char* function);
    void forbid_recording(const char* what) const;
    void require_stream(void* stream) const;
    void finish_for(const void* memory);
    const KnownKernel& known(const nacelle_kernel&) const;

    void environment(nacelle_environment* out);
    void array(const char* name, nacelle_array* out);
    void array_create(const char* name, uint32_t dtype, uint32_t rank, const int64_t* shape,
                      uint32_t persistent, nacelle_array* out);
    void write(void* target, const void* source, uint64_t bytes);
    void read(void* target, const void* source, uint64_t bytes);
    void program(const char* instantiation, const nacelle_header* headers, uint32_t header_count,
                 const char* const* defines, uint32_t define_count, uint32_t* out);
    void kernel(uint32_t program, const char* symbol, nacelle_kernel* out);
    void launch(const nacelle_kernel* kernel, const nacelle_launch* launch, const void* args,
                uint32_t bytes, void* stream);
    void launch_environments(const nacelle_kernel* kernel, const void* args, uint32_t bytes,
                             void* stream);
    void advance(uint64_t ticks, void* stream);
    void restart(void* stream);
    void replace_table(const char* param, uint32_t dtype, uint32_t rank, const int64_t* shape,
                       const void* data);

    // A program that was asked for; it is loaded when its first kernel is.
    struct AskedProgram {
        PendingProgram pending;
        Program* loaded = nullptr;
    };
    Program& loaded(AskedProgram& program);
    // Those that nobody has asked a kernel of, too; false where one does not compile.
    bool load_programs();

    std::string plugin_;
    Log log_;
    nacelle_host table_{};
    Environment* environment_ = nullptr;
    bool tables_ = false;
    std::shared_ptr<std::set<const NamedArray*>> arrays_in_use_;
    std::vector<const NamedArray*> arrays_;
    std::vector<AskedProgram> programs_;
    std::vector<KnownKernel> kernels_;
    std::list<std::vector<std::byte>> schemas_;    // each that was given out stays readable
    std::atomic<std::thread::id> caller_{};        // nobody while no call runs
    Moment moment_ = Moment::preparing;
    std::string why_;    // of the last refusal
    std::mutex reason_mutex_;
    std::string reason_;    // what the plugin said by fail(), from any thread
};

}
