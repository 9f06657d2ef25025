#include "engine/base/number_text.h"

#include "tests/support/random.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("the shortest digits read back as the same number") {
    Dice dice(fresh_seed());
    for (int i = 0; i < 10000; ++i) {
        const double number = dice.uniform(-1, 1) * std::pow(10.0, dice.uniform(-30, 30));
        CHECK(std::strtod(shortest(number).c_str(), nullptr) == number);
        const auto single = static_cast<float>(number);
        CHECK(std::strtof(shortest(single).c_str(), nullptr) == single);
        CHECK(static_cast<float>(as_written(single)) == single);
    }
    CHECK(shortest(0.1f) == "0.1");
    CHECK(shortest(0.1) == "0.1");
    CHECK(as_written(0.1f) == 0.1);
    CHECK(shortest(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(std::isnan(as_written(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("rounded digits are those of printf") {
    Dice dice(fresh_seed());
    for (int i = 0; i < 10000; ++i) {
        const double number = dice.uniform(-1, 1) * std::pow(10.0, dice.uniform(-12, 12));
        const int digits = 1 + dice.below(12);
        char printed[64];
        std::snprintf(printed, sizeof printed, "%.*g", digits, number);
        CHECK(rounded(number, digits) == printed);
    }
}
