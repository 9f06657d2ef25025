#include "engine/compile/backend.h"

#include "engine/base/error.h"
#include "engine/device/keeping_device.h"
#include "engine/jit/compile_helpers.h"

#include <algorithm>
#include <thread>

namespace nacelle {
namespace {

// About one for each program of an environment and its learner, within the number of processors.
std::shared_ptr<CompileHelpers> helpers_for(std::vector<std::string> command, const Cache& cache) {
    const size_t processors = std::thread::hardware_concurrency(),
                 count = processors < 4 ? 0 : std::min<size_t>(6, processors - 1);
    // Their results come back through the cache.
    if (command.empty() || count == 0 || !cache.trouble().empty()) return nullptr;
    command.push_back(cache.directory().string());
    return std::make_shared<CompileHelpers>(std::move(command), count);
}

}

std::shared_ptr<RunsOn> open_backend(const BackendSettings& settings, Log log) {
    auto on = std::make_shared<RunsOn>();
    on->log = std::move(log);
    on->env_folders = settings.env_folders;
    on->cache = std::make_shared<Cache>(settings.cache.empty() ? Cache::default_directory()
                                                               : settings.cache);
    std::shared_ptr<CompileHelpers> helpers = helpers_for(settings.compile_helper, *on->cache);
    if (const std::string trouble = on->cache->trouble(); !trouble.empty())
        on->log.warn(trouble + ": nothing that is compiled is kept");
    // Helpers and the driver take equally long to start. An empty cache already shows that helpers are needed, before
    // the driver has told the architecture.
    DeviceChoice choice = open_device(
        settings.backend, settings.threads,
        [&] {
            if (helpers && on->cache->empty()) helpers->start();
        },
        settings.gpu);
    if (choice.device->info().backend == Backend::cuda) {
        try {
            const std::string& architecture = choice.device->info().architecture;
            on->compiler = open_nvrtc(architecture, on->cache, std::move(helpers));
        } catch (const Error& error) {
            if (settings.backend == "cuda") throw;
            choice = open_device("cpu", settings.threads);
            choice.why = std::string("the GPU is not used: ") + error.what();
        }
    }
    if (!on->compiler) on->compiler = open_host_compiler(on->cache);
    on->device = settings.keeps && choice.device->info().backend == Backend::cuda
                     ? keeping(choice.device)
                     : choice.device;
    on->why = choice.why;
    on->stream = on->device->stream();
    return on;
}

}
