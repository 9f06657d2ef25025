#include "engine/base/finite.h"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace nacelle;

TEST_CASE("the first number that is not finite is found wherever it is") {
    std::vector<float> numbers(100, 3e38f);
    CHECK(first_not_finite(numbers.data(), numbers.size()) == 100);
    for (size_t at = 100; at-- > 0;) {
        numbers[at] = at % 2 ? NAN : -INFINITY;
        CHECK(first_not_finite(numbers.data(), numbers.size()) == at);
    }
    CHECK(first_not_finite<float>(nullptr, 0) == 0);
}
