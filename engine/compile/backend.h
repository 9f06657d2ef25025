#pragma once
#include "engine/base/log.h"
#include "engine/device/ranks.h"
#include "engine/jit/cache.h"
#include "engine/jit/jit.h"

namespace nacelle {

// A device with its compiler, its cache and one stream: what every environment runs on.
struct RunsOn {
    std::shared_ptr<Device> device;
    std::shared_ptr<Cache> cache;
    std::unique_ptr<Compiler> compiler;
    std::unique_ptr<Stream> stream;
    Log log;
    std::string why;                                   // why this device
    std::vector<std::filesystem::path> env_folders;    // where names of environments are looked up
    std::unique_ptr<Ranks> ranks;                      // null: this process trains alone

    bool cuda() const { return device->info().backend == Backend::cuda; }
};

struct BackendSettings {
    std::string backend = "auto";
    int threads = 0;
    int gpu = 0;                    // which one of several
    std::filesystem::path cache;    // empty: the default
    std::vector<std::filesystem::path> env_folders;
    // The command of a process that helps to compile for a GPU (jit/compile_helpers.h); the cache's folder is
    // appended. Empty: none.
    std::vector<std::string> compile_helper;
    // Runs follow each other: a GPU's memory and modules are kept for the next one (device/keeping_device.h).
    bool keeps = false;
};

// Throws where the backend is not available. "auto" falls back to the CPU where a GPU has no NVRTC.
std::shared_ptr<RunsOn> open_backend(const BackendSettings&, Log log = Log());

}
