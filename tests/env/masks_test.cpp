#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("random play takes only what the mask allows, and all of it") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("masked.cu", masked)}, {"count", 500}}));
    std::map<std::pair<int, int>, int> taken;    // by step of the episode and choice
    for (int t = 0; t < 40; ++t) {
        const std::vector<double> mask = numbers(env, "mask"), step = numbers(env, "state.step");
        for (size_t i = 0; i < 500; ++i) {
            const int now = int(step[i]);
            const bool odd = now % 2 == 1;
            std::vector<double> wanted = {1, 1, 1, 1, double(!odd), 1, double(!odd), 1, 1, 0};
            wanted[size_t(now % 4)] = 0;
            REQUIRE(
                std::equal(wanted.begin(), wanted.end(), mask.begin() + std::ptrdiff_t(10 * i)));
        }
        env.step_at_random();
        const std::vector<double> a = numbers(env, "action.a");
        for (size_t i = 0; i < 500; ++i) ++taken[{int(step[i]) % 4, int(a[i])}];
    }
    CHECK(numbers(env, "state.wrong") == std::vector<double>(500, 0));
    for (int now = 0; now < 4; ++now)
        for (int choice = 0; choice < 4; ++choice) {
            CAPTURE(now);
            CAPTURE(choice);
            const int count = taken[{now, choice}];    // of 5,000
            if (choice == now) CHECK(count == 0);
            else CHECK(std::abs(count - 5000 / 3) < 170);
        }
}

TEST_CASE("a mask that allows all leaves every choice alike") {
    const Folder folder;
    Environment env(cpu(), settings_of({{"source", folder.write("masked.cu", masked)},
                                        {"count", 3000},
                                        {"params", {{"all", true}}}}));
    CHECK(numbers(env, "mask") == std::vector<double>(30000, 1));
    env.step_at_random();
    std::map<int, int> a, b;
    for (const double choice : numbers(env, "action.a")) ++a[int(choice)];
    for (const double choice : numbers(env, "action.b")) ++b[int(choice)];
    for (int choice = 0; choice < 4; ++choice) CHECK(std::abs(a[choice] - 750) < 120);
    for (int choice = 0; choice < 3; ++choice) CHECK(std::abs(b[choice] - 2000) < 190);
    const std::vector<double> c = numbers(env, "action.c");
    CHECK(*std::min_element(c.begin(), c.end()) >= 0);
    CHECK(*std::max_element(c.begin(), c.end()) < 2);
}
