#pragma once
#include "engine/env/environment.h"
#include "engine/nacelle.hpp"
#include "engine/run/run.h"

namespace nacelle {

// What lies behind the classes of nacelle.hpp, for doors of other languages, which are built with the engine.
struct Internals {
    static const std::shared_ptr<Environment>& environment(const Env& env);
    static TrainingRun& run(const Run& run);
};

}
