#pragma once
#include "engine/compile/compile_program.h"

namespace nacelle::python {

// A program of this package on a GPU.
inline std::unique_ptr<Module> load_program(RunsOn& on, const char* text) {
    const Binary binary =
        compile_program(on, {}, {.instantiation = text, .headers = {}, .defines = {strict_define}});
    return on.device->load(std::as_bytes(std::span(binary.image)));
}

}
