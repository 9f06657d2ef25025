#include "tests/algorithms/cases.h"
#include "tests/algorithms/iteration.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

#include <map>

// The learner's whole way, from observations to the gradient of all weights, against doubles.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The values of what was cut short: an environment's last end stays in its final_obs.
double final_value_error(Lesson& lesson, const PolicyForm& policy, const Kept& kept,
                         const Scholar& scholar) {
    const std::vector<double> obs = rows_seen(lesson, policy, "final_obs");
    std::vector<double> must, is;
    each_row(policy, kept, [&](size_t row) {
        for (size_t t = kept.steps; t-- > 0;) {
            const uint8_t flag = kept.flag[t * kept.rows + row];
            if (!Kept::ends(flag)) continue;
            const auto first = obs.begin() + std::ptrdiff_t(row * kept.width);
            if (Kept::cut(flag)) {
                must.push_back(scholar.value({first, first + std::ptrdiff_t(kept.width)}));
                is.push_back(kept.final_value[t * kept.rows + row]);
            }
            break;
        }
    });
    REQUIRE(must.size() > 10);
    return relative_error(is, must);
}

// Relative errors that are let pass: 8 bits of a bf16 are a third of a percent.
struct Limits {
    double found, gradient;
};

// Floats and doubles fall on different sides of relu's kink where a neuron's input lies as close to it as rounding
// reaches: what such neurons may come to.
double error_at_kinks(PolicyForm policy, const std::vector<double>& weights,
                      const Normaliser& normaliser, const std::vector<Scholar::Sample>& samples,
                      double rounding) {
    if (policy.activation.name != "relu") return 0;
    const auto slopes = [&](double kink) {
        policy.activation.kink = kink;
        return Scholar(policy, weights, normaliser).study(samples).slopes;
    };
    return relative_error(slopes(rounding), slopes(-rounding));
}

void hold_metrics(Lesson& lesson, const std::string& prefix, const Scholar::Study& study,
                  const Limits& limits) {
    const MetricValues values = lesson.learner().metrics();
    std::map<std::string, double> metrics(values.begin(), values.end());
    const auto close = [&](const std::string& name, double must, double most_error) {
        CAPTURE(name);
        REQUIRE(metrics.contains(prefix + name));
        CHECK(std::abs(metrics[prefix + name] - must) < most_error * (1 + std::abs(must)));
    };
    close("loss.policy", study.policy_loss, limits.found);
    close("loss.value", study.value_loss, limits.found);
    close("entropy", study.entropy, limits.found);
    close("kl", study.kl, limits.found);
    close("clip_fraction", study.clipped, limits.found);
    double norm = 0;
    for (const double slope : study.slopes) norm += slope * slope;
    close("gradient_norm", std::sqrt(norm), std::max(limits.found, limits.gradient));
}

// Rounding averages out over samples, of which an emulation gets through few.
constexpr Limits as_f32{1e-5, 1e-5}, as_bf16{2e-2, 1e-2}, as_bf16_of_few{2e-2, 2e-2};
// Where large terms cancel, single values are off by more: two planes keep 16 bits of a number, and sums over thousands of
// neurons add up what each of their floats has lost.
constexpr Limits as_two_planes{3e-5, 1e-5}, as_f32_of_many{3e-5, 1e-5};

// Two iterations: the second one's observations and rewards are scaled by what the first one saw too.
void hold_to_doubles(const std::shared_ptr<RunsOn>& on, const Case& c, const Limits& limits,
                     uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Json config = {{"horizon", 11},   {"minibatches", 1},    {"learning_rate", 0},
                   {"entropy", 0.03}, {"value_weight", 0.7}, {"value_clip", 0.3},
                   {"gamma", 0.93},   {"lambda", 0.8}};
    if (c.learner == "ppo") config["epochs"] = 1;
    config.update(c.config, true);
    Json env = env_of(c.env, envs);
    if (!c.constants.empty()) env["constants"] = c.constants;
    Lesson lesson(on, env, c.learner, config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::vector<Returns> returns(policies.size());
    std::vector<Normaliser> normalisers;
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        returns[p].see(policies[p], Kept(lesson, policies[p]));
        normalisers.push_back(Normaliser::of(lesson, policies[p].group));
    }
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(c.env);
        CAPTURE(policy.name);
        const Kept kept(lesson, policy);
        returns[p].see(policy, kept);
        const std::vector<double> weights = lesson.numbers(policy.name + ".policy.weights");
        const Scholar scholar(policy, weights, normalisers[p]);
        const Found must = found_by(scholar, policy, kept, returns[p].scale());
        const auto error = [&](const std::vector<double>& is, const std::vector<double>& wanted) {
            return relative_error(own(policy, kept, is), own(policy, kept, wanted));
        };
        CHECK(error(kept.log_probability, must.log_probability) < limits.found);
        CHECK(error(kept.value, must.value) < limits.found);
        CHECK(error(kept.advantage, must.advantage) < limits.found);
        CHECK(error(kept.target, must.target) < limits.found);
        CHECK(final_value_error(lesson, policy, kept, scholar) < limits.found);
        CHECK(std::ranges::equal(std::span(kept.obs).last(kept.rows * kept.width),
                                 rows_seen(lesson, policy, "obs")));
        std::vector<Scholar::Sample> samples = samples_of(policy, kept, must);
        normalise_advantages(samples);
        const Scholar::Study study = scholar.study(samples);
        const double gradient = limits.gradient + error_at_kinks(policy, weights, normalisers[p],
                                                                 samples, limits.gradient / 3);
        CHECK(relative_error(lesson.numbers(policy.name + ".policy.total"), study.slopes) <
              gradient);
        hold_metrics(lesson, policies.size() > 1 ? policy.name + "." : "", study,
                     {limits.found, gradient});
    }
}

Case with(Case c, const Json& policy, const Json& learner = Json::object()) {
    for (auto& [name, settings] : c.config["policies"].items()) settings.update(policy);
    c.config.update(learner);
    return c;
}
const Json narrow = {{"precision", "bf16"}}, wide = {{"precision", "f32"}},
           on_threads = {{"emulate", true}, {"horizon", 5}};

Case streamed(size_t i, const char* precision, Json policy = Json::object()) {
    policy.update({{"execution", "streamed"}, {"precision", precision}});
    return with(cases()[i], policy);
}
// Widths beside those of tiles and of blocks, and such that take a CPU's threads minutes.
std::vector<Case> odd_widths(const char* precision) {
    return {streamed(0, precision, {{"hidden", {1, 3}}}),
            streamed(1, precision, {{"hidden", {63, 65}}}),
            streamed(3, precision, {{"hidden", {255, 130}}, {"trunk", "separate"}}),
            streamed(4, precision, {{"hidden", {512, 64, 7}}}),
            streamed(2, precision, {{"hidden", {1000}}, {"activation", "relu"}}),
            streamed(0, precision, {{"hidden", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}}}),
            streamed(5, precision, {{"hidden", {4096, 5}}})};
}
// More numbers than go into a first layer at once, beside what its chunks hold; the last one's weights find no room in an
// update's shared memory.
std::vector<Case> much_seen() {
    const auto seeing = [](int sights, Json policy, const char* learner = "ppo") {
        policy.update(
            {{"execution", "fused"}, {"precision", "bf16"}, {"gains", {{"choice", 1.0}}}});
        return Case{"crowd", learner, for_all(policy), {{"sights", sights}}};
    };
    return {seeing(129, {{"hidden", {40, 7}}, {"activation", "gelu"}, {"trunk", "separate"}}),
            seeing(422, {{"hidden", {32, 32}}}, "a2c"), seeing(363, {{"hidden", {64, 64}}}),
            seeing(768, {{"hidden", {16}}, {"activation", "silu"}, {"trunk", "separate"}}),
            seeing(448, {{"hidden", {64, 64}}})};
}
// Rows that go through all layers of an update in one kernel.
Case row_pass(size_t i, const char* precision, Json policy = Json::object()) {
    policy.update({{"execution", "row_pass"}, {"precision", precision}});
    return with(cases()[i], policy);
}
// Of several levels that come back from memory, of one layer, with inputs of activations kept, and of all widths.
std::vector<Case> row_passes(const char* precision) {
    const int wide = precision == std::string_view("bf16") ? 200 : 120;
    return {row_pass(0, precision, {{"hidden", {wide, 65, 3, 70}}, {"trunk", "separate"}}),
            row_pass(3, precision, {{"hidden", {70, 9}}}),
            row_pass(4, precision, {{"hidden", {129}}}),
            row_pass(1, precision, {{"hidden", {1, 63, 64}}}),
            row_pass(2, precision, {{"hidden", {255, 256, 193}}}),
            row_pass(0, precision, {{"hidden", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}}})};
}
// Layers that a CPU computes one by one, beside the widths of its panels and tasks. The last ones have more rows than go
// through at once. None has relu: of a million neurons' inputs some lie so close to its kink that floats and doubles
// fall on different sides.
std::vector<Case> wide_on_cpu() {
    return {with(cases()[1], {{"hidden", {1000, 63, 65}}, {"activation", "silu"}}),
            with(cases()[3], {{"hidden", {255, 64, 1, 512, 3}}}),
            with(cases()[2], {{"hidden", {4096, 5}}, {"trunk", "separate"}})};
}

}

TEST_CASE("the whole gradient is that of the formulas") {
    const auto on = cpu();
    for (const Case& c : few_if_sanitized(cases(), {1, 6, 8})) hold_to_doubles(on, c, as_f32, 150);
}

TEST_CASE("the whole gradient of wide layers is that of the formulas") {
    const auto on = quick_cpu();
    for (const Case& c : wide_on_cpu()) hold_to_doubles(on, c, as_f32_of_many, 60);
}

TEST_CASE("the whole gradient of convolutions is that of the formulas") {
    const auto on = quick_cpu();
    for (const Case& c : few_if_sanitized(convolved_cases(), {1}))
        hold_to_doubles(on, c, as_f32, 150);
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

TEST_CASE("the whole gradient of rows of many numbers is that of the formulas, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    const Json few = {{"emulate", true}, {"horizon", 3}};
    for (const size_t i : {0u, 1u})
        hold_to_doubles(on, with(much_seen()[i], Json::object(), few), as_bf16_of_few, 40);
}

TEST_CASE(
    "the whole gradient of layers that go through memory is that of the formulas, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    for (const Case& c :
         {streamed(1, "bf16", {{"hidden", {65}}}), streamed(3, "f32", {{"hidden", {64, 9}}}),
          streamed(6, "f32"), streamed(9, "bf16")})
        hold_to_doubles(
            on, with(c, Json::object(), on_threads),
            c.config["policies"].begin()->at("precision") == "f32" ? as_f32 : as_bf16_of_few, 130);
}

TEST_CASE(
    "the whole gradient of layers for clusters of blocks is that of the formulas, on threads") {
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

TEST_CASE("the whole gradient with a last layer at once is that of the formulas, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const Json less = {{"emulate", true}, {"horizon", 4}},
               two = {{"hidden", {16, 512}}, {"trunk", "separate"}};
    for (const char* const precision : {"bf16", "f32"})
        hold_to_doubles(quick_cpu(), with(streamed(0, precision, two), Json::object(), less),
                        precision == std::string("f32") ? as_f32 : as_bf16_of_few, 130);
}

TEST_CASE("a row pass has the gradient of a kernel for each layer, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const auto gradient = [&](Case c, const char* execution) {
        c = with(c, {{"execution", execution}},
                 {{"emulate", true}, {"horizon", 4}, {"minibatches", 1}});
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
    hold_to_doubles(on, with(row_passes("f32")[1], Json::object(), on_threads), as_f32, 130);
}

TEST_CASE("the whole gradient of convolutions is that of the formulas, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    const Json few = {{"emulate", true}, {"horizon", 3}};
    for (const size_t i : {1u, 2u, 3u})
        hold_to_doubles(on, with(convolved_cases()[i], i == 2 ? narrow : wide, few),
                        i == 2 ? as_bf16_of_few : as_f32, 40);
}

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
