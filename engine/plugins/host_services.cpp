// The C functions that a plugin sees, and how what fails on either side becomes words.
#include "engine/plugins/host_services.h"

#include "engine/base/error.h"

namespace nacelle {

struct HostServices::Table {
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

    // One of the member functions below as a C function. Nothing it throws crosses.
    template <auto request, class... Values>
    static nacelle_status ask(const nacelle_host* host, Values... values) {
        HostServices& services = of(host);
        if (services.caller_.load() != std::this_thread::get_id()) return NACELLE_ERROR;
        try {
            (services.*request)(values...);
            return NACELLE_OK;
        } catch (const std::exception& exception) {
            services.why_ = exception.what();
        } catch (...) {
            services.why_ = "unknown exception";
        }
        return NACELLE_ERROR;
    }

    static nacelle_host without_environment(HostServices& services) {
        nacelle_host table{};
        table.size = sizeof table;
        table.self = &services;
        table.log = log;
        table.fail = fail;
        table.why = why;
        return table;
    }

    static nacelle_host with_environment(HostServices& services) {
        nacelle_host table = without_environment(services);
        table.environment = ask<&HostServices::environment>;
        table.array = ask<&HostServices::array>;
        table.array_create = ask<&HostServices::array_create>;
        table.write = ask<&HostServices::write>;
        table.read = ask<&HostServices::read>;
        table.program = ask<&HostServices::program>;
        table.kernel = ask<&HostServices::kernel>;
        table.launch = ask<&HostServices::launch>;
        table.advance = ask<&HostServices::advance>;
        table.restart = ask<&HostServices::restart>;
        table.table = ask<&HostServices::replace_table>;
        table.launch_environments = ask<&HostServices::launch_environments>;
        return table;
    }
};

HostServices::HostServices(std::string plugin, const Log& log)
    : plugin_(std::move(plugin)), log_(log), table_(Table::without_environment(*this)) {}

HostServices::HostServices(std::string plugin, const Plugins& plugins, Environment& environment,
                           bool tables)
    : plugin_(std::move(plugin)),
      log_(plugins.log()),
      table_(Table::with_environment(*this)),
      environment_(&environment),
      tables_(tables),
      arrays_in_use_(plugins.arrays_in_use()) {}

HostServices::~HostServices() {
    for (const NamedArray* array : arrays_) arrays_in_use_->erase(array);
    for (const AskedProgram& program : programs_)
        if (program.loaded) environment_->release(*program.loaded);
}

HostServices::Calling::Calling(HostServices& services, Moment moment) : services_(services) {
    services.moment_ = moment;
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
