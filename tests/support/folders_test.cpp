#include "tests/support/folders.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>

using nacelle::test::build_path;
using nacelle::test::source_path;

TEST_CASE("tests find sources and programs where they were built, or where variables say") {
    const auto with = [](const char* variable, const char* folder, const auto& path) {
        const char* const before = std::getenv(variable);
        const std::string kept = before ? before : "";
        folder ? ::setenv(variable, folder, 1) : ::unsetenv(variable);
        const std::string found = path("tests/support");
        before ? ::setenv(variable, kept.c_str(), 1) : ::unsetenv(variable);
        return found;
    };
    CHECK(with("NACELLE_TEST_SOURCES", "/elsewhere", source_path) == "/elsewhere/tests/support");
    CHECK(with("NACELLE_TEST_BUILD", "/elsewhere", build_path) == "/elsewhere/tests/support");
    CHECK(std::filesystem::exists(source_path("tests/support/folders.h")));
    CHECK(std::filesystem::exists(build_path("tests/support/sample")));
}
