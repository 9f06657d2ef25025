#pragma once
#include "engine/nacelle.hpp"
#include "python/binding/guard.h"

namespace nacelle::python {

// A device, its compiler and its plugins, with who uses them.
struct OpenEngine {
    std::shared_ptr<EngineUse> use = std::make_shared<EngineUse>();
    Engine engine;

    OpenEngine(const std::string& backend, int threads,
               const std::vector<std::filesystem::path>& env_folders,
               const std::vector<std::filesystem::path>& plugin_folders)
        : engine({.backend = backend,
                  .threads = threads,
                  .cache = {},
                  .env_folders = env_folders,
                  .plugin_folders = plugin_folders}) {}
    ~OpenEngine() {
        if (use->is_forked()) new Engine(engine);    // the child has no threads that could be ended
    }
};

}
