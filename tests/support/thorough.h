#pragma once
#include <cstdlib>
#include <doctest/doctest.h>
#include <string_view>

namespace nacelle::test {

// How much of its tests a program runs: `brief` by `tools/nacelle test` without more, `all` by `--all`. A program that is
// started by itself, or by the name of its part, has no such variable and runs everything.
inline constexpr const char* depth_variable = "NACELLE_TEST_DEPTH";
inline constexpr const char *thorough_suite = "thorough", *by_name_suite = "by name";

// TEST_CASE("..." * thorough()): takes long for what quicker cases look at, too. Of --all and of its part's name.
struct thorough {
    void fill(doctest::detail::TestCase& test) const {
        const char* const depth = std::getenv(depth_variable);
        test.m_test_suite = thorough_suite;
        test.m_skip = depth != nullptr && depth == std::string_view("brief");
    }
};

// TEST_CASE("..." * by_name()): takes so long that it runs only by its part's name. Tests on a GPU run the same kernels with
// more sizes, and quicker cases run them on threads.
struct by_name {
    void fill(doctest::detail::TestCase& test) const {
        test.m_test_suite = by_name_suite;
        test.m_skip = std::getenv(depth_variable) != nullptr;
    }
};

}
