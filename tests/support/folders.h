#pragma once
#include <string>

namespace nacelle::test {

// The path of a file or folder among the sources, and of one that the build makes. The folders are those of the build,
// or the ones that NACELLE_TEST_SOURCES and NACELLE_TEST_BUILD name, where the programs run on another machine.
std::string source_path(const std::string& below);
std::string build_path(const std::string& below);

}
