#include "tests/support/folders.h"

#include <cstdlib>

namespace nacelle::test {
namespace {

std::string folder(const char* variable, const char* of_the_build) {
    const char* const moved = std::getenv(variable);
    return moved && *moved ? moved : of_the_build;
}

}

std::string source_path(const std::string& below) {
    return folder("NACELLE_TEST_SOURCES", NACELLE_SOURCE_ROOT) + '/' + below;
}

std::string build_path(const std::string& below) {
    return folder("NACELLE_TEST_BUILD", NACELLE_BUILD_ROOT) + '/' + below;
}

}
