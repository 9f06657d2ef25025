#pragma once
#include "engine/compile/backend.h"
#include "engine/run/benchmark.h"
#include "tools/options.h"

// Output that the kinds of 'bench' share.
namespace nacelle::tools {

// "1.8 B to 1.94 B"
std::string range_text(const Spread& spread);
// One line: the device and its driver.
void print_machine(RunsOn& on);
// "backend", "device", "processors", "driver" and "version".
void add_machine(RunsOn& on, Json& row);
// "steps_per_second", "slowest" and "fastest".
void add_spread(const Spread& spread, Json& to);

}
