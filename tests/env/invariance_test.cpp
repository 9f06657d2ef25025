#include "tests/env/authors.h"
#include "tests/env/parts.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

// The same numbers however the environments are cut into batches and threads.
using namespace nacelle;
using namespace nacelle::test;

namespace {

void check_split(EnvSettings settings, uint32_t count, uint32_t cut) {
    settings.count = count;
    Environment whole(cpu(), settings);
    settings.count = cut;
    Environment low(cpu(), settings);
    settings.count = count - cut;
    settings.first_env = cut;
    Environment high(cpu(), settings);
    for (int t = 0; t < 60; ++t)
        for (Environment* env : {&whole, &low, &high}) env->step_at_random();
    for (const NamedArray& array : whole.arrays().all()) {
        if (array.role() == Role::total) continue;    // sums over groups of environments
        const std::string name = array.name();
        CAPTURE(name);
        CHECK((part_of(whole, array, 0, cut) == bytes_of(low.arrays()[name])));
        CHECK((part_of(whole, array, cut, count - cut) == bytes_of(high.arrays()[name])));
    }
    CHECK(whole.take_totals().episodes == low.take_totals().episodes + high.take_totals().episodes);
}

}

TEST_CASE("a batch that is split in two does what the whole does") {
    check_split(recommended("cartpole", 1, 3), 300, 77);
    check_split(recommended("mazes", 1, 3), 100, 37);
    const Folder folder;
    check_split(
        settings_of(
            {{"source", folder.write("draws.cu", draws)},
             {"params", {{"number", {{"uniform", {1, 2}}}}, {"list", {{"normal", {0, 1}}}}}}}),
        130, 65);
}

TEST_CASE("the number of threads changes nothing in any array") {
    for (const char* const name : {"cartpole", "mazes"}) {
        Environment one(cpu(1), recommended(name, 1000));
        for (int t = 0; t < 50; ++t) one.step_at_random();
        const Totals expected = one.take_totals();
        for (int threads = 2; threads <= 5; ++threads) {
            CAPTURE(threads);
            Environment several(cpu(threads), recommended(name, 1000));
            for (int t = 0; t < 50; ++t) several.step_at_random();
            const Totals totals = several.take_totals();
            CHECK(first_difference(one, several) == "");
            CHECK(totals.episodes == expected.episodes);
            CHECK(totals.mean_return == expected.mean_return);
            CHECK(totals.return_deviation == expected.return_deviation);
        }
    }
}

TEST_CASE("another seed gives other numbers, and the same seed the same") {
    Environment a(cpu(), recommended("cartpole", 64, 1)), b(cpu(), recommended("cartpole", 64, 1)),
        c(cpu(), recommended("cartpole", 64, 2));
    for (int t = 0; t < 20; ++t)
        for (Environment* env : {&a, &b, &c}) env->step_at_random();
    CHECK(first_difference(a, b) == "");
    CHECK(bytes_of(a.arrays()["state.x"]) != bytes_of(c.arrays()["state.x"]));
}

TEST_CASE("no two environments and no two episodes start alike") {
    Environment env(cpu(), recommended("pendulum", 2000));
    std::vector<double> theta = numbers(env, "state.theta");
    env.reset();
    const std::vector<double> again = numbers(env, "state.theta");
    theta.insert(theta.end(), again.begin(), again.end());
    std::sort(theta.begin(), theta.end());
    const auto twice = std::unique(theta.begin(), theta.end());
    CHECK(theta.end() - twice < 8);    // of 4,000 draws of 24 bits about one is met twice
}
