#pragma once
#include "engine/jit/cache.h"

#include <string>
#include <vector>

namespace nacelle {

// The C++ compiler of this machine, and everything that changes its output.
struct HostToolchain {
    std::vector<std::string> command;    // the program, and further words of $CXX
    bool clang = false;
    std::string build;    // version, size and time of the program, "native" spelt out

    // The command line that starts the compiler, in English, with temporary files in the folder, if there is one. The compiler
    // starts in `/`, and not among other users' files in the working directory: linkers take libraries from the folder of
    // the start, and an empty word of CPATH names that folder.
    std::vector<std::string> words(const std::string& temporary_folder = {}) const;
};

// $CXX, then g++, c++, clang++ on PATH. Queries the compiler once and caches the answer: a warm start runs no other
// program.
HostToolchain find_host_toolchain(Cache& cache);

// Options under which an index outside an array and an integer division by 0 end the program by a signal.
std::vector<std::string> bounds_checks(bool clang);

}
