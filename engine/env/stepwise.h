#pragma once
#include "engine/compile/program.h"

namespace nacelle {

// An environment's own program, with its most used kernels.
struct Stepwise {
    Stepwise(RunsOn& on, const Binary& binary, const std::string& what,
             std::span<const Binary> parts = {})
        : program(on, binary, what, parts) {
        find_kernels();
    }
    void exchange(Stepwise& other) {
        program.exchange(other.program);
        find_kernels();
        other.find_kernels();
    }
    // Swaps with another build of the same source.
    void exchange_build(Stepwise& other) {
        program.exchange_build(other.program);
        find_kernels();
        other.find_kernels();
    }

    Program program;
    Kernel step, reset, clock, totals;

private:
    void find_kernels() {
        step = program.kernel("nacelle_step");
        reset = program.kernel("nacelle_reset");
        clock = program.kernel("nacelle_clock");
        totals = program.kernel("nacelle_totals");
    }
};

}
