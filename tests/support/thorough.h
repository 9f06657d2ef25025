#pragma once
#include <cstdlib>
#include <doctest/doctest.h>

namespace nacelle::test {

inline constexpr const char* thorough_suite = "thorough";

// TEST_CASE("..." * thorough()): takes long for what quicker cases look at, too. `tools/nacelle test` without more leaves
// it out and says so; `--all` and the name of its part run it, and so does the program by itself.
struct thorough {
    void fill(doctest::detail::TestCase& test) const {
        test.m_test_suite = thorough_suite;
        test.m_skip = std::getenv("NACELLE_TEST_BRIEFLY") != nullptr;
    }
};

}
