// The C functions that a plugin calls, and how failures on either side become messages.
#include "engine/plugins/host_services.h"

#include "engine/base/error.h"

#include <nacelle/plugin/failure_text.h>

namespace nacelle {

struct HostServices::Calls {
    static HostServices& of(const nacelle_host* host) {
        return *static_cast<HostServices*>(host->self);
    }

    static void log(const nacelle_host* host, nacelle_level level, const char* text) {
        const LogLevel known = level == NACELLE_DEBUG     ? LogLevel::debug
                               : level == NACELLE_INFO    ? LogLevel::info
                               : level == NACELLE_WARNING ? LogLevel::warning
                                                          : LogLevel::error;
        of(host).log_.write(known, of(host).plugin_ + ": " + (text ? text : ""));
    }

    static void fail(const nacelle_host* host, const char* text) {
        const std::lock_guard lock(of(host).reason_mutex_);
        of(host).reason_ = text ? text : "";
    }

    static const char* why(const nacelle_host* host) {
        const bool ours = of(host).caller_.load() == std::this_thread::get_id();
        return ours ? of(host).why_.c_str()
                    : "the host may be asked only within a call and on the thread that made it";
    }

    // Wraps a member function below as a C function that throws nothing.
    template <auto request, class... Values>
    static nacelle_status ask(const nacelle_host* host, Values... values) {
        HostServices& services = of(host);
        if (services.caller_.load() != std::this_thread::get_id()) return NACELLE_ERROR;
        try {
            (services.*request)(values...);
            return NACELLE_OK;
        } catch (const std::exception& exception) {
            services.why_ = plugin::failure_text(exception);
        } catch (...) {
            services.why_ = "unknown exception";
        }
        return NACELLE_ERROR;
    }

    static const void* get(const nacelle_host* host, const char* name) {
        const void* found = nullptr;
        ask<&HostServices::service>(host, name, &found);
        return found;
    }
    static nacelle_host core(HostServices& services) {
        return {sizeof(nacelle_host), &services, log, fail, why, get};
    }

    // One table for all instances: each call passes its own.
    static constexpr nacelle_environment_service environment{sizeof(nacelle_environment_service),
                                                             ask<&HostServices::describe>,
                                                             ask<&HostServices::array>};
    static constexpr nacelle_arrays_service arrays{
        sizeof(nacelle_arrays_service), ask<&HostServices::array_create>, ask<&HostServices::write>,
        ask<&HostServices::read>};
    static constexpr nacelle_kernels_service kernels{sizeof(nacelle_kernels_service),
                                                     ask<&HostServices::program>,
                                                     ask<&HostServices::kernel>,
                                                     ask<&HostServices::launch>,
                                                     ask<&HostServices::launch_environments>,
                                                     ask<&HostServices::program_of_sizes>};
    static constexpr nacelle_clock_service clock{
        sizeof(nacelle_clock_service), ask<&HostServices::advance>, ask<&HostServices::restart>};
    static constexpr nacelle_ranks_service ranks{
        sizeof(nacelle_ranks_service), ask<&HostServices::ranks>, ask<&HostServices::all_reduce>,
        ask<&HostServices::peer_memory>};
    static constexpr nacelle_tables_service tables{sizeof(nacelle_tables_service),
                                                   ask<&HostServices::replace_table>};
    static constexpr nacelle_plugins_service plugins{sizeof(nacelle_plugins_service),
                                                     ask<&HostServices::offer>};
};

void HostServices::service(const char* name, const void** out) {
    const std::pair<std::string_view, const void*> services[] = {
        {"environment/1", &Calls::environment},
        {"arrays/1", &Calls::arrays},
        {"kernels/1", &Calls::kernels},
        {"clock/1", &Calls::clock},
        {"ranks/1", &Calls::ranks},
        {"tables/1", &Calls::tables},
        {"plugins/1", &Calls::plugins}};
    const std::string_view wanted = name ? name : "";
    std::string all;
    for (const auto& [its_name, table] : services) {
        all += (all.empty() ? "" : ", ") + std::string(its_name);
        if (its_name != wanted) continue;
        if (kind_ == InstanceKind::sink)
            throw std::runtime_error(std::string(wanted) + " is for hooks and learners");
        if (table == &Calls::ranks && kind_ != InstanceKind::learner)
            throw std::runtime_error(std::string(wanted) + " is for learners");
        if (table == &Calls::tables && kind_ != InstanceKind::hook)
            throw std::runtime_error(std::string(wanted) + " is for hooks");
        *out = table;
        return;
    }
    throw std::runtime_error("this host has no service '" + std::string(wanted) +
                             "' (there is: " + all + ")");
}

HostServices::HostServices(std::string plugin, const Log& log)
    : plugin_(std::move(plugin)), log_(log), host_(Calls::core(*this)) {}

HostServices::HostServices(std::string plugin, Plugins& plugins, LazyEnvironment environment,
                           InstanceKind kind)
    : plugin_(std::move(plugin)),
      log_(plugins.log()),
      host_(Calls::core(*this)),
      kind_(kind),
      plugins_(&plugins),
      environment_(std::move(environment)),
      arrays_in_use_(plugins.arrays_in_use()) {}

HostServices::~HostServices() {
    for (const NamedArray* array : arrays_) arrays_in_use_->erase(array);
    for (const AskedProgram& program : programs_)
        if (program.loaded) env().programs().release(*program.loaded);
}

HostServices::Calling::Calling(HostServices& services, CallContext context) : services_(services) {
    services.context_ = context;
    services.why_.clear();
    {
        const std::lock_guard lock(services.reason_mutex_);
        services.reason_.clear();
    }
    services.caller_ = std::this_thread::get_id();
}

void HostServices::fail(const char* function) {
    const std::lock_guard lock(reason_mutex_);
    std::string reason = reason_.empty() ? why_ : reason_;
    if (reason.empty()) reason = std::string(function) + "() failed and gave no reason";
    throw Error(plugin_, reason);
}

}
