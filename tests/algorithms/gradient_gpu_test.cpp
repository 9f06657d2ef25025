#include "tests/algorithms/gradient.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <cmath>
#include <functional>

// The kernels for GPUs on a GPU. The compiler takes most of the time: each case has few programs, since on a machine with a
// GPU each case is a process.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Rounding averages out over samples: 3,000 environments come within a hundredth.
Limits as_bf16_of(uint32_t envs) {
    Limits limits = as_bf16;
    limits.gradient *= std::sqrt(3000.0 / envs);
    return limits;
}
void hold_bf16(const std::shared_ptr<RunsOn>& on, const Case& c, uint32_t envs) {
    hold_to_doubles(on, c, as_bf16_of(envs), envs);
}
void hold_f32(const std::shared_ptr<RunsOn>& on, const Case& c, uint32_t envs) {
    hold_to_doubles(on, c, as_f32_cut, envs);
}

void on_a_gpu(const std::function<void(const std::shared_ptr<RunsOn>&)>& held) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    held(on);
}

}

TEST_CASE("the whole gradient is that of the formulas on a GPU, in f32" * on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : cases()) hold_f32(on, with(c, wide), 150);
    });
}

TEST_CASE("the whole gradient is that of the formulas on a GPU, in bf16" * on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : cases()) hold_bf16(on, with(c, narrow), 3000);
    });
}

TEST_CASE("the whole gradient of critics that see more is that of the formulas on a GPU" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        hold_f32(on, overseen(0, "f32", "auto"), 150);
        hold_bf16(on, overseen(0, "bf16", "streamed"), 400);
        hold_bf16(on, overseen(1, "bf16", "auto"), 3000);
        hold_f32(on, overseen(1, "f32", "streamed"), 150);
        hold_bf16(on, overseen(2, "bf16", "row_pass", {70, 9}), 400);
        hold_bf16(on, overseen(2, "bf16", "auto"), 400);
    });
}

TEST_CASE("the whole gradient of rows of many numbers is that of the formulas on a GPU" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : much_seen()) hold_bf16(on, c, 700);
    });
}

// The rows give every cluster a part; the last part has fewer rows than a block.
TEST_CASE(
    "the whole gradient of layers for clusters of blocks is that of the formulas on a GPU, in "
    "f32" *
    on_gpu()) {
    on_a_gpu([](const auto& on) {
        hold_to_doubles(on, streamed(0, "f32", {{"hidden", {1024, 512}}}), as_two_planes, 390);
    });
}

TEST_CASE(
    "the whole gradient of layers for clusters of blocks is that of the formulas on a GPU, in "
    "bf16" *
    on_gpu()) {
    on_a_gpu([](const auto& on) {
        hold_bf16(on, streamed(0, "bf16", {{"hidden", {1024, 512}}}), 390);
    });
}

TEST_CASE("the whole gradient of two networks for clusters of blocks is that of the formulas on a "
          "GPU" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        hold_bf16(
            on,
            streamed(0, "bf16",
                     {{"hidden", {512, 1024}}, {"trunk", "separate"}, {"activation", "silu"}}),
            375);
    });
}

TEST_CASE(
    "the whole gradient of clusters whose parts are not alike is that of the formulas on a GPU" *
    on_gpu()) {
    // First and last layers at once, too, of two networks.
    on_a_gpu([](const auto& on) {
        hold_bf16(on, streamed(0, "bf16", {{"hidden", {513, 300}}, {"trunk", "separate"}}), 375);
    });
}

TEST_CASE(
    "the whole gradient of layers that go through memory is that of the formulas on a GPU, in f32" *
    on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (size_t i = 0; i < cases().size(); ++i) hold_f32(on, streamed(i, "f32"), 150);
    });
}

TEST_CASE("the whole gradient of layers that go through memory is that of the formulas on a GPU, "
          "in bf16" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (size_t i = 0; i < cases().size(); ++i) hold_bf16(on, streamed(i, "bf16"), 400);
    });
}

TEST_CASE("the whole gradient of layers of odd widths is that of the formulas on a GPU, in f32" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : odd_widths("f32")) hold_f32(on, c, 60);
    });
}

TEST_CASE("the whole gradient of layers of odd widths is that of the formulas on a GPU, in bf16" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : odd_widths("bf16")) hold_bf16(on, c, 200);
    });
}

TEST_CASE("the whole gradient of convolutions is that of the formulas on a GPU, in f32" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : convolved_cases()) hold_f32(on, with(c, wide), 150);
    });
}

TEST_CASE("the whole gradient of convolutions is that of the formulas on a GPU, in bf16" *
          on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : convolved_cases()) hold_bf16(on, with(c, narrow), 400);
    });
}

TEST_CASE("the whole gradient of a row pass is that of the formulas on a GPU, in f32" * on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : row_passes("f32")) hold_f32(on, c, 150);
    });
}

TEST_CASE("the whole gradient of a row pass is that of the formulas on a GPU, in bf16" * on_gpu()) {
    on_a_gpu([](const auto& on) {
        for (const Case& c : row_passes("bf16")) hold_bf16(on, c, 400);
    });
}
