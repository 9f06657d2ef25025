#include "tests/algorithms/gradient.h"
#include "tests/algorithms/network_cases.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// The kernels for GPUs, emulated on a CPU's threads.

using namespace nacelle;
using namespace nacelle::test;

namespace {

const Json one_update = {{"emulate", true}, {"horizon", 4}, {"minibatches", 1}, {"epochs", 1}};

void hold_rows_of_many(size_t i) {
    hold_to_doubles(quick_cpu(),
                    with(with(much_seen()[i], Json::object(), briefly_on_threads), Json::object(),
                         {{"kept_observations", "f32"}}),
                    as_bf16_of_few, 60);
}

}

TEST_CASE("the whole gradient of the kernels for GPUs is that of the formulas, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    const Json less = {{"hidden", {17, 9}}, {"precision", "f32"}};
    hold_to_doubles(on, with(cases()[2], less, on_threads), as_f32, 130);
    for (const size_t i : {0u, 3u})
        hold_to_doubles(on, with(cases()[i], narrow, on_threads), as_bf16_of_few, 260);
}

TEST_CASE("the whole gradient of rows of many numbers is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_rows_of_many(0);
}
TEST_CASE("so it is by a2c with one network, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_rows_of_many(1);
}

TEST_CASE(
    "the whole gradient of layers that go through memory is that of the formulas, on threads" *
    test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    for (const Case& c :
         {streamed(1, "bf16", {{"hidden", {65}}}), streamed(6, "f32"), streamed(9, "bf16")})
        hold_to_doubles(
            on, with(c, Json::object(), on_threads),
            c.config["policies"].begin()->at("precision") == "f32" ? as_f32 : as_bf16_of_few, 130);
}

TEST_CASE(
    "the whole gradient of layers for clusters of blocks is that of the formulas, on threads" *
    test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const Json less = {{"emulate", true}, {"horizon", 4}};
    hold_to_doubles(quick_cpu(),
                    with(streamed(0, "f32", {{"hidden", {128, 256}}, {"activation", "silu"}}),
                         Json::object(), less),
                    as_two_planes, 120);
}

TEST_CASE("the whole gradient with a first layer at once is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    // Two networks, and rows that go through in two parts.
    hold_to_doubles(quick_cpu(),
                    with(streamed(0, "bf16", {{"hidden", {256, 9}}, {"trunk", "separate"}}),
                         Json::object(), one_update),
                    as_bf16_of_few, 130);
}
TEST_CASE("so it is with two stripes of one network, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    // The stripes have three tiles and two, and rows end within a cluster's.
    hold_to_doubles(quick_cpu(),
                    with(streamed(0, "bf16", {{"hidden", {300, 260}}, {"activation", "gelu"}}),
                         Json::object(), one_update),
                    as_bf16_of_few, 130);
}

TEST_CASE("the whole gradient with a last layer at once is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_to_doubles(quick_cpu(),
                    with(streamed(0, "bf16", {{"hidden", {16, 300}}, {"trunk", "separate"}}),
                         Json::object(), one_update),
                    as_bf16_of_few, 130);
}
TEST_CASE("so it is with a last layer of whole tiles, in f32, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_to_doubles(quick_cpu(),
                    with(streamed(0, "f32", {{"hidden", {16, 512}}, {"trunk", "separate"}}),
                         Json::object(), {{"emulate", true}, {"horizon", 4}}),
                    as_f32, 130);
}

TEST_CASE("a row pass has the gradient of a kernel for each layer, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const auto gradient = [&](Case c, const char* execution) {
        c = with(c, {{"execution", execution}},
                 {{"emulate", true}, {"horizon", 4}, {"minibatches", 1}, {"rollout", "stepwise"}});
        if (c.learner == "ppo") c.config["epochs"] = 1;
        Lesson lesson(on, env_of(c.env, 150), c.learner, c.config, seed);
        lesson.iterate();
        return lesson.numbers("default.policy.total");
    };
    // In bf16 to the bit, where the other's last layer is no kernel of its own; several planes are summed in another order.
    const Case same = with(row_passes("bf16")[0], {{"activation", "silu"}}),
               close = row_passes("f32")[2];
    const std::vector<double> all = gradient(same, "row_pass");
    CHECK(all == gradient(same, "streamed"));
    CHECK(std::ranges::any_of(all, [](double x) { return x != 0; }));
    CHECK(relative_error(gradient(close, "row_pass"), gradient(close, "streamed")) < 1e-5);
}

TEST_CASE("the whole gradient of a row pass is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    hold_to_doubles(quick_cpu(), with(row_passes("f32")[1], Json::object(), on_threads), as_f32,
                    130);
}

TEST_CASE("a row pass between few numbers has the gradient of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    // It sums the first and last layers itself: of one network and of two, with and without what went into activations.
    hold_to_doubles(quick_cpu(),
                    with(row_pass(6, "bf16", {{"hidden", {70, 9}}}), Json::object(),
                         {{"emulate", true}, {"horizon", 5}, {"minibatches", 1}, {"epochs", 1}}),
                    as_bf16_of_few, 90);
}

TEST_CASE("the whole gradient of critics that see more is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    hold_to_doubles(on, with(overseen(0, "f32", "fused"), Json::object(), on_threads), as_f32, 130);
    hold_to_doubles(on, with(overseen(1, "f32", "streamed"), Json::object(), on_threads), as_f32,
                    130);
    hold_to_doubles(
        on, with(overseen(2, "bf16", "row_pass", {70, 9}), Json::object(), briefly_on_threads),
        as_bf16_of_few, 130);
}

namespace {

void hold_convolutions(size_t i) {
    const bool in_bf16 = i % 2 == 0;
    hold_to_doubles(quick_cpu(),
                    with(convolved_cases()[i], in_bf16 ? narrow : wide, briefly_on_threads),
                    in_bf16 ? as_bf16_of_few : as_f32, 40);
}

}

TEST_CASE("the whole gradient of convolutions is that of the formulas, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    for (const size_t i : {1u, 4u}) hold_convolutions(i);
}
TEST_CASE("so is that of more forms of convolutions, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    for (const size_t i : {2u, 3u, 5u}) hold_convolutions(i);
}
