#include "tests/algorithms/gradient.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/skip.h"

// The kernels for GPUs on one, where there is one.

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("the whole gradient is that of the formulas on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const Case& c : cases()) {
        hold_to_doubles(on, with(c, wide), as_f32, 150);
        hold_to_doubles(on, with(c, narrow), as_bf16, 3000);
    }
}

TEST_CASE("the whole gradient of rows of many numbers is that of the formulas on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const Case& c : much_seen()) hold_to_doubles(on, c, as_bf16_of_few, 700);
}

TEST_CASE("the whole gradient of layers for clusters of blocks is that of the formulas on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    // So many rows that there are parts for all clusters, the last one with rows for less than a block.
    const Json shape = {{"hidden", {1024, 512}}},
               two = {{"hidden", {512, 1024}}, {"trunk", "separate"}, {"activation", "silu"}};
    hold_to_doubles(on, streamed(0, "f32", shape), as_two_planes, 390);
    hold_to_doubles(on, streamed(0, "bf16", shape), as_bf16_of_few, 390);
    hold_to_doubles(on, streamed(0, "bf16", two), as_bf16_of_few, 375);
}

TEST_CASE("the whole gradient of layers that go through memory is that of the formulas on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (size_t i = 0; i < cases().size(); ++i) {
        hold_to_doubles(on, streamed(i, "f32"), as_f32, 150);
        hold_to_doubles(on, streamed(i, "bf16"), as_bf16_of_few, 400);
    }
    for (const Case& c : convolved_cases()) {
        hold_to_doubles(on, with(c, wide), as_f32, 150);
        hold_to_doubles(on, with(c, narrow), as_bf16_of_few, 400);
    }
    for (const Case& c : odd_widths("f32")) hold_to_doubles(on, c, as_f32, 60);
    for (const Case& c : odd_widths("bf16")) hold_to_doubles(on, c, as_bf16_of_few, 200);
}

TEST_CASE("the whole gradient of a row pass is that of the formulas on a GPU") {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (const Case& c : row_passes("f32")) hold_to_doubles(on, c, as_f32, 150);
    for (const Case& c : row_passes("bf16")) hold_to_doubles(on, c, as_bf16_of_few, 400);
}
