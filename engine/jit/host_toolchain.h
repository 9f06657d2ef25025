#pragma once
#include "engine/jit/cache.h"

#include <string>
#include <vector>

namespace nacelle {

// The C++ compiler of this machine, and what its code depends on.
struct HostToolchain {
    std::vector<std::string> command;    // the program, and what $CXX puts behind it
    bool clang = false;
    std::string build;    // version, size and time of the program, "native" spelt out
};

// $CXX, then g++, c++, clang++ on PATH. Asks the compiler once and remembers the answer in the
// cache: a warm start runs no other program.
HostToolchain find_host_toolchain(Cache& cache);

// Options by which an index outside an array and a whole number over 0 end what does it, by a signal.
std::vector<std::string> bounds_checks(bool clang);

}
