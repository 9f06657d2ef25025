#include <nacelle/device/loop/places.h>

#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace nacelle;

TEST_CASE("the places of flags are those that a loop over all of them finds") {
    std::mt19937 random(5);
    for (const int count : {0, 1, 7, 63, 64, 65, 128, 200, 256})
        for (const double chance : {0.0, 0.02, 0.5, 1.0}) {
            CAPTURE(count);
            CAPTURE(chance);
            std::vector<uint8_t> flags;
            std::vector<int> expected, places(size_t(count) + 1, -1);
            std::bernoulli_distribution set(chance);
            for (int i = 0; i < count; ++i) {
                flags.push_back(set(random));
                if (flags.back()) expected.push_back(i);
            }
            const int found = detail::places_of(flags.data(), count, places.data());
            CHECK(places[size_t(count)] == -1);
            places.resize(size_t(found));
            CHECK(places == expected);
        }
}
