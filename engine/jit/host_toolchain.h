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

    // The words that start it, with temporary files in a folder if one is given. It says English, since it is parsed. It starts in the root
    // folder: a linker takes libraries from where it starts, and a compiler headers, if a variable says so; the working
    // directory may have those of another user.
    std::vector<std::string> words(const std::string& temporary_folder = {}) const;
};

// $CXX, then g++, c++, clang++ on PATH. Queries the compiler once and caches the answer: a warm start runs no other
// program.
HostToolchain find_host_toolchain(Cache& cache);

// Options under which an index outside an array and an integer division by 0 end the program by a signal.
std::vector<std::string> bounds_checks(bool clang);

}
