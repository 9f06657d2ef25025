#include "engine/env/backend.h"

#include "engine/base/error.h"

namespace nacelle {

std::shared_ptr<RunsOn> open_backend(const BackendSettings& settings, Log log) {
    auto on = std::make_shared<RunsOn>();
    on->log = std::move(log);
    on->env_folders = settings.env_folders;
    on->cache = std::make_shared<Cache>(settings.cache.empty() ? Cache::default_directory()
                                                               : settings.cache);
    DeviceChoice choice = open_device(settings.backend, settings.threads);
    if (choice.device->info().backend == Backend::cuda) {
        try {
            on->compiler = open_nvrtc(choice.device->info().architecture, on->cache);
        } catch (const Error& error) {
            if (settings.backend == "cuda") throw;
            choice = open_device("cpu", settings.threads);
            choice.why = std::string("the GPU is not used: ") + error.what();
        }
    }
    if (!on->compiler) on->compiler = open_host_compiler(on->cache);
    on->device = choice.device;
    on->why = choice.why;
    on->stream = on->device->stream();
    return on;
}

}
