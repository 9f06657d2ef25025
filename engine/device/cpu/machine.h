#pragma once
#include <cstddef>
#include <string>

namespace nacelle {

// The model name of the processor, or "CPU" where the system does not say.
std::string processor_name();
// Bytes of memory in total, and those that a process can still get without swapping.
size_t machine_memory();
size_t machine_memory_free();

}
