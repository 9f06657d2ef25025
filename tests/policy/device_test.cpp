#include "engine/compile/compile_program.h"
#include "engine/compile/embedded_sdk.h"
#include "engine/jit/nvrtc.h"
#include "engine/nacelle.hpp"
#include "engine/policy.h"
#include "engine/policy/device_policy.h"
#include "engine/policy/read_policy_description.h"
#include "tests/policy/saved.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A network with all that a policy may have: a normaliser, hidden layers, two discrete parts and two real ones.
struct Form {
    std::string activation = "tanh";
    std::vector<size_t> sizes = {5, 21, 18, 12};
    bool normalised = true, squash = false, draws = true;
    uint64_t noise_steps = 1;
};
constexpr size_t choices = 6, parts = 4;

std::shared_ptr<const TrainedPolicy> policy_of(const Form& form, Dice& dice) {
    Json told = {{"observation", {{{"name", "obs"}, {"count", form.sizes.front()}}}},
                 {"actions",
                  {{{"name", "gear"}, {"choices", 2}},
                   {{"name", "push"}, {"low", -2}, {"high", 3}},
                   {{"name", "turn"}, {"choices", 4}},
                   {{"name", "lift"}, {"low", 0}, {"high", 1}}}},
                 {"network",
                  {{"weights", "weights"},
                   {"sizes", form.sizes},
                   {"activation", form.activation},
                   {"biases", "behind"}}},
                 {"draws", form.draws},
                 {"squash", form.squash},
                 {"log_deviation", {-10, 2}},
                 {"noise_steps", form.noise_steps}};
    if (form.normalised) told["normaliser"] = {{"mean", "mean"}, {"scale", "scale"}, {"bound", 2}};
    const auto numbers = [&](const std::string& name) {
        size_t count = form.sizes.front();
        if (name == "weights") {
            count = 0;
            for (size_t l = 0; l + 1 < form.sizes.size(); ++l)
                count += (form.sizes[l] + 1) * form.sizes[l + 1];
        }
        std::vector<float> values(count);
        for (float& value : values) value = dice.uniform(-1, 1);
        return values;
    };
    return std::make_shared<TrainedPolicy>(
        read_policy_description(Json{{"default", told}}, "default", "a test"), numbers, "a test");
}

// Rows of observations and masks, and what a policy makes of them on the host.
struct Rows {
    size_t count;
    std::vector<float> seen, actions;
    std::vector<uint8_t> masks;
    Rows(size_t rows, size_t inputs, Dice& dice)
        : count(rows), seen(rows * inputs), actions(rows * parts), masks(rows * choices) {
        for (float& number : seen) number = dice.uniform(-3, 3);
        for (uint8_t& open : masks) open = dice.below(3) != 0;
    }
};

// A processor that does not fuse products and sums rounds differently.
bool as_close_as_it_can(float a, float b) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) return a == b;
#endif
    return std::abs(a - b) < 1e-4f;
}

// Calls fn(observations, actions, masks) with the device's memory, and brings the actions back.
template <class Fn> std::vector<float> on_device(RunsOn& on, const Rows& rows, Fn&& fn) {
    const Buffer seen(on.device, rows.seen.size() * sizeof(float)),
        masks(on.device, rows.masks.size()),
        actions(on.device, rows.actions.size() * sizeof(float));
    on.stream->to_device(seen.data(), rows.seen.data(), seen.bytes());
    on.stream->to_device(masks.data(), rows.masks.data(), masks.bytes());
    on.stream->synchronize();
    fn(std::span(static_cast<const float*>(seen.data()), rows.seen.size()),
       std::span(static_cast<float*>(actions.data()), rows.actions.size()),
       std::span(static_cast<const uint8_t*>(masks.data()), rows.masks.size()));
    on.stream->synchronize();
    std::vector<float> result(rows.actions.size());
    on.stream->to_host(result.data(), actions.data(), actions.bytes());
    on.stream->synchronize();
    return result;
}

void compare(const std::shared_ptr<RunsOn>& on, const Form& form, Dice& dice,
             const std::vector<size_t>& counts) {
    const auto policy = policy_of(form, dice);
    const DevicePolicy there(on, policy);
    for (const size_t count : counts) {
        Rows rows(count, form.sizes.front(), dice);
        for (const bool drawn : {false, true}) {
            for (const bool masked : {false, true}) {
                CAPTURE(count);
                CAPTURE(drawn);
                CAPTURE(masked);
                const TrainedPolicy::Draws draws{.seed = 7, .step = count};
                const auto open =
                    masked ? std::span<const uint8_t>(rows.masks) : std::span<const uint8_t>();
                policy->act(rows.seen, rows.actions, open, drawn ? &draws : nullptr);
                const std::vector<float> actions =
                    on_device(*on, rows, [&](auto seen, auto chosen, auto masks) {
                        there.act(seen, chosen, masked ? masks : std::span<const uint8_t>(),
                                  drawn ? &draws : nullptr, on->stream->native());
                    });
                for (size_t i = 0; i < actions.size(); ++i) {
                    CAPTURE(i);
                    REQUIRE(as_close_as_it_can(actions[i], rows.actions[i]));
                }
            }
        }
    }
}

}

TEST_CASE("a GPU's kernel, emulated, acts as the host does: every activation, any number of rows") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const auto on = cpu_for(Variant::emulated(0));
    for (const char* activation : {"tanh", "relu", "silu", "gelu"}) {
        CAPTURE(activation);
        compare(on, {.activation = activation}, dice, {1, 17});
    }
    compare(on, {.normalised = false, .squash = true, .noise_steps = 3}, dice, {1, 2, 65, 130});
    compare(on, {.draws = false}, dice, {5});
    compare(on, {.sizes = {3, 10}}, dice, {33});
#ifndef NACELLE_SANITIZE    // too slow there
    // So wide that a tile has 8 rows, and more outputs than threads times four.
    compare(on, {.sizes = {500, 600, 10}}, dice, {9});
#endif
}

TEST_CASE("a layer that is too wide for a GPU's block is refused with what there is room for") {
    Dice dice(1);
    const auto on = cpu_for(Variant::emulated(0));
    const auto policy = policy_of({.sizes = {1025, 10}}, dice);
    CHECK(contains(
        complaint([&] { DevicePolicy(on, policy); }),
        "a layer of 'default' has 1028 numbers (a block of this GPU has memory for 1024)"));
}

TEST_CASE("a policy with convolutions is refused for a GPU, with what computes it") {
    const Json told = {
        {"observation", {{{"name", "obs"}, {"count", 4}}}},
        {"actions", {{{"name", "go"}, {"choices", 2}}}},
        {"network",
         {{"weights", "weights"},
          {"convolutions",
           {{"rows", 2},
            {"columns", 2},
            {"images", {{{"first", 0}, {"channels", 1}}}},
            {"layers",
             {{{"channels", 1}, {"rows", 2}, {"columns", 2}, {"stride", 1}, {"padding", 0}}}}}},
          {"sizes", {1, 2}}}}};
    const auto policy = std::make_shared<TrainedPolicy>(
        read_policy_description(Json{{"default", told}}, "default", "a test"),
        [](const std::string&) { return std::vector<float>(9); }, "a test");
    CHECK(contains(complaint([&] { DevicePolicy(cpu_for(Variant::emulated(0)), policy); }),
                   "'default' has convolutions, which GpuPolicy does not compute (Policy::act "
                   "computes them on the host)"));
}

TEST_CASE("on a GPU, too, sizes that do not fit and memory that is not there are refused") {
    Dice dice(1);
    const DevicePolicy policy(cpu_for(Variant::emulated(0)), policy_of({}, dice));
    Rows rows(2, 5, dice);
    const auto refused = [&](std::span<const float> seen, std::span<float> actions,
                             std::span<const uint8_t> masks = {}) {
        return complaint([&] { policy.act(seen, actions, masks, nullptr, nullptr); });
    };
    CHECK(contains(refused(std::span(rows.seen).first(9), rows.actions), "are no whole rows"));
    CHECK(contains(refused(rows.seen, std::span(rows.actions).first(7)), "there is room for 7"));
    CHECK(contains(refused(rows.seen, rows.actions, std::span(rows.masks).first(1)),
                   "a mask has 6 bytes a row"));
    float* const nowhere = nullptr;
    CHECK(refused({nowhere, 10}, rows.actions) ==
          "GpuPolicy::act: the memory of the observations is null");
    CHECK(refused(rows.seen, {nowhere, 8}) == "GpuPolicy::act: the memory of the actions is null");
    CHECK(refused({nowhere, size_t(0)}, {nowhere, size_t(0)}).empty());
}

TEST_CASE("NVRTC compiles the kernel of policies for each architecture") {
    const auto cache = shared_cache();
    for (const char* architecture : {"sm_80", "sm_90"}) {
        CAPTURE(architecture);
        std::unique_ptr<Compiler> compiler;
        try {
            compiler = open_nvrtc(architecture, cache);
        } catch (const Error& error) {
            NACELLE_SKIP(error.what());
        }
        ProgramSource source{.author = {},
                             .headers = {},
                             .instantiation = DevicePolicy::program_text,
                             .defines = {strict_define},
                             .options = gpu_arithmetic(true)};
        for (const EmbeddedFile& header : embedded_sdk())
            source.headers.push_back({header.name, header.text});
        const Compiled compiled = compiler->compile(source);
        const auto* const wrong = std::get_if<Diagnostics>(&compiled);
        REQUIRE_MESSAGE(!wrong, (wrong ? wrong->raw : ""));
        CHECK(std::get<Binary>(compiled).image.find("nacelle_act") != std::string::npos);
    }
}

TEST_CASE("GPU: a policy acts on its memory and on a stream as on the host" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    try {
        on = open("cuda");
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (const char* activation : {"tanh", "relu", "silu", "gelu"}) {
        CAPTURE(activation);
        compare(on, {.activation = activation}, dice, {1, 17, 1000, 50000});
    }
    compare(on, {.sizes = {64, 256, 256, 12}, .noise_steps = 3}, dice, {5, 4097});
    compare(on, {.sizes = {500, 600, 10}}, dice, {9, 300});

    const DevicePolicy policy(on, policy_of({}, dice));
    Rows rows(2, 5, dice);
    CHECK(
        contains(complaint([&] { policy.act(rows.seen, rows.actions, {}, nullptr, nullptr); }),
                 "the memory of the observations is not the GPU's (Policy::act takes the host's)"));
}

TEST_CASE(
    "GPU: from C and C++ a policy of a run's directory acts on a GPU, or says what is missing" *
    test::on_gpu()) {
    const SavedRun run;
    run.save(10, true);
    const Policy policy(run.path());
    nacelle_trained_policy* const opened =
        nacelle_policy_open(run.path().c_str(), nullptr, nullptr);
    REQUIRE(opened);
    CHECK(nacelle_gpu_policy_open(nullptr) == nullptr);
    CHECK(contains(nacelle_policy_error(), "the policy is null"));
    nacelle_gpu_policy_close(nullptr);
    CHECK(nacelle_gpu_policy_act(nullptr, 1, nullptr, nullptr, nullptr, nullptr) != 0);
    std::shared_ptr<RunsOn> on;
    try {
        on = open("cuda");
    } catch (const Error& error) {
        CHECK(complaint([&] { GpuPolicy{policy}; }) == error.what());
        CHECK(nacelle_gpu_policy_open(opened) == nullptr);
        CHECK(std::string(nacelle_policy_error()) == error.what());
        nacelle_policy_close(opened);
        NACELLE_SKIP(error.what());
    }
    nacelle_gpu_policy* const there = nacelle_gpu_policy_open(opened);
    REQUIRE_MESSAGE(there, nacelle_policy_error());
    nacelle_policy_close(opened);
    Dice dice(3);
    Rows rows(100, 2, dice);
    rows.actions.resize(100 * 2);
    rows.masks.assign(100 * 3, 1);
    const std::vector<float> from_c = on_device(*on, rows, [&](auto seen, auto chosen, auto masks) {
        CHECK(nacelle_gpu_policy_act(there, 100, seen.data(), masks.data(), chosen.data(),
                                     on->stream->native()) == 0);
    });
    policy.act(rows.seen, rows.actions, rows.masks);
    CHECK(from_c == rows.actions);
    GpuPolicy drawing(policy);
    drawing.seed(4);
    nacelle_gpu_policy_seed(there, 4);
    Policy host = policy;
    host.seed(4);
    for (int call = 0; call < 2; ++call) {
        host.sample(rows.seen, rows.actions, rows.masks);
        CHECK(on_device(*on, rows, [&](auto seen, auto chosen, auto masks) {
                  drawing.sample(seen, chosen, masks, on->stream->native());
              }) == rows.actions);
        CHECK(on_device(*on, rows, [&](auto seen, auto chosen, auto masks) {
                  nacelle_gpu_policy_sample(there, 100, seen.data(), masks.data(), chosen.data(),
                                            on->stream->native());
              }) == rows.actions);
    }
    nacelle_gpu_policy_close(there);
}
