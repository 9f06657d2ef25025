#pragma once
#include <string>

namespace nacelle::test {

// The path of a file among the sources, and of a file of the build. NACELLE_TEST_SOURCES and NACELLE_TEST_BUILD name other
// folders than the build's own, for programs that were moved to another machine.
std::string source_path(const std::string& below);
std::string build_path(const std::string& below);

}
