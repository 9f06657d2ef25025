#pragma once
#include "tests/support/thorough.h"

#include <string_view>

namespace nacelle::test {

inline constexpr const char* gpu_suite = "gpu";
inline constexpr const char* thorough_gpu_suite = "thorough gpu";

// TEST_CASE("..." * on_gpu()): the case needs a GPU, and is skipped or does less without. The archive for machines with a GPU
// (tools/nacelle test --bundle) runs only cases with this mark. The mark comes after thorough().
struct on_gpu {
    void fill(doctest::detail::TestCase& test) const {
        const bool thorough = test.m_test_suite == std::string_view(thorough_suite);
        test.m_test_suite = thorough ? thorough_gpu_suite : gpu_suite;
    }
};

}
