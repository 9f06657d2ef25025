#include "engine/run/diagnosis.h"

#include "engine/run/open_choices.h"

#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr int readings = 40;

// What readings show whose metrics are these functions of the share of the run that is over.
using Curve = std::function<double(double)>;
std::vector<Suspicion> found_in(const std::vector<std::pair<std::string, Curve>>& curves,
                                int count = readings, const Json& learner = Json::object()) {
    Diagnosis diagnosis;
    for (int i = 0; i < count; ++i) {
        MetricValues metrics;
        for (const auto& [name, curve] : curves)
            metrics.emplace_back(name, curve(double(i) / double(count - 1)));
        diagnosis.add(metrics);
    }
    return diagnosis.of_metrics(learner);
}
std::string shown(const std::vector<std::pair<std::string, Curve>>& curves, int count = readings) {
    std::string text;
    for (const Suspicion& one : found_in(curves, count)) {
        CHECK(!one.remedy.empty());
        text += (text.empty() ? "" : "\n") + one.what;
    }
    return text;
}

Curve always(double value) {
    return [=](double) { return value; };
}

template <class T>
std::string shown_of_array(const std::string& name, std::vector<int64_t> shape,
                           const std::vector<T>& values, const Json& learner = Json::object(),
                           bool turns = false) {
    constexpr Dtype dtype = std::is_same_v<T, float> ? Dtype::f32 : Dtype::u8;
    std::vector<Tensor> tensors{{name, dtype, std::move(shape), std::as_bytes(std::span(values))}};
    if (turns) tensors.push_back({"turn", Dtype::u8, {0}, {}});
    std::string text;
    for (const Suspicion& one : look_at_arrays(tensors, learner))
        text += (text.empty() ? "" : "\n") + one.what;
    return text;
}

}

TEST_CASE("a run that learns is not suspected") {
    CHECK(shown({{"entropy", [](double t) { return 0.69 - 0.3 * t; }},
                 {"explained_variance", [](double t) { return -1 + 2 * t; }},
                 {"kl", always(0.01)},
                 {"clip_fraction", always(0.1)},
                 {"reward_scale", always(0.01)},
                 {"episode.return", [](double t) { return -1500 + 1300 * t; }},
                 {"episode.return_deviation", always(300)},
                 {"episode.length", always(200)}})
              .empty());
}

TEST_CASE("a few readings are not enough to suspect anything") {
    CHECK(shown({{"explained_variance", always(-1)}}, 5).empty());
    CHECK(!shown({{"explained_variance", always(-1)}}).empty());
}

TEST_CASE("each metric that has left what is usual is named, of every policy") {
    CHECK(shown({{"entropy", [](double t) { return t < 0.5 ? 0.69 : 0.001; }}}) ==
          "entropy fell from 0.69 to 0.001, so that the policy explores no more");
    CHECK(shown({{"red.explained_variance", always(-0.5)}}) ==
          "red.explained_variance is -0.5, so that values are worse than their mean");
    // Where all episodes return nearly the same there is nothing to be explained.
    const auto explained = [](double deviation) {
        return shown({{"explained_variance", always(-0.5)},
                      {"episode.return", [](double t) { return 100 + 20 * t; }},
                      {"episode.return_deviation", always(deviation)}});
    };
    CHECK(explained(0.1).empty());
    CHECK(explained(10) == "explained_variance is -0.5, so that values are worse than their mean");
    CHECK(shown({{"kl", always(0.4)}}) ==
          "kl is 0.4, so that an iteration leaves little of the policy before it");
    CHECK(shown({{"kl", always(1e-9)}}) ==
          "kl was never above 1e-07, so that the policy stays as it began");
    CHECK(shown({{"clip_fraction", always(0.6)}}) ==
          "clip_fraction is 0.6, so that many samples teach nothing");
    CHECK(shown({{"episode.return", [](double t) { return 1e6 + 1e5 * t; }},
                 {"reward_scale", always(1)}}) ==
          "values are to be about 1.09e+06, as large as the returns");
}

TEST_CASE("what is recommended is a setting that the learner has") {
    const auto remedy = [](const std::string& name, Curve curve, const Json& learner) {
        std::string text;
        for (const Suspicion& one : found_in({{name, std::move(curve)}}, readings, learner))
            text += one.remedy;
        return text;
    };
    const Curve returns = [](double t) { return 1e6 + 1e5 * t; },
                entropy = [](double t) { return t < 0.5 ? 0.69 : 0.001; };
    CHECK(remedy("episode.return", returns, {{"reward_scale", 1}}) ==
          "a smaller learner.reward_scale");
    CHECK(remedy("episode.return", returns, {{"reward_scale", 1}, {"normalise_returns", false}}) ==
          "learner.normalise_returns: true or a smaller learner.reward_scale");
    CHECK(remedy("episode.return", returns, {{"reward_scale", 1e-6}}).empty());
    CHECK(remedy("entropy", entropy, {{"learning_rate", 1e-3}}) ==
          "a smaller learner.learning_rate");
    CHECK(remedy("entropy", entropy, Json::object()) ==
          "a larger learner.entropy or a smaller learner.learning_rate");
    CHECK(remedy("entropy", entropy, {{"learning_rate", 1e-3}, {"target_entropy", -1}}).empty());
}

TEST_CASE("episodes that all end alike are named only while nothing is learned") {
    const auto episodes = [](Curve returns, Curve lengths = always(200)) {
        return shown({{"episode.return", std::move(returns)},
                      {"episode.return_deviation", always(10)},
                      {"episode.length", std::move(lengths)}});
    };
    CHECK(episodes([](double t) { return 100 + t; }) ==
          "every episode ends at step 200 and returns what the first ones did");
    CHECK(episodes([](double t) { return 100 + 100 * t; }).empty());
    CHECK(episodes(always(0)) == "every episode returns 0");
    // A game of two sides, of which one learns what it gets, and one that pays nothing.
    const auto game = [](double explained) {
        return shown({{"episode.return", always(0)},
                      {"episode.return_deviation", always(0)},
                      {"episode.length", always(20)},
                      {"default.explained_variance", always(explained)}});
    };
    CHECK(game(0.7).empty());
    CHECK(game(0) == "every episode returns 0");
    // Those that began at spread clocks are shorter.
    const auto later = [](double early, double then) {
        return [=](double t) { return t < 0.2 ? early : then; };
    };
    CHECK(episodes(later(50, 100), later(90, 200)) ==
          "every episode ends at step 200 and returns what the first ones did");
    CHECK(episodes([](double t) { return 100 + 100 * t; }, later(90, 200)).empty());
    CHECK(episodes([](double t) { return 100 + t; }, [](double t) { return t < 0.9 ? 190 : 200; })
              .empty());
}

TEST_CASE("a long run is remembered in few readings, from its beginning to its end") {
    CHECK(shown({{"entropy", [](double t) { return t < 0.5 ? 0.69 : 0.001; }}}, 100000) ==
          "entropy fell from 0.69 to 0.001, so that the policy explores no more");
}

TEST_CASE("as many metrics as a line holds are looked at at once") {
    MetricValues metrics;
    for (int i = 0; i < 60000; ++i) metrics.emplace_back("own." + std::to_string(i), i);
    Diagnosis diagnosis;
    for (int reading = 0; reading < 20; ++reading) diagnosis.add(metrics);
    CHECK(diagnosis.of_metrics(Json::object()).empty());
}

TEST_CASE("observations of a scale that a network cannot use are named") {
    CHECK(shown_of_array<float>("obs", {2, 2}, {1, 2, -5e8f, 0}) ==
          "obs has numbers as large as 5e+08");
    CHECK(shown_of_array<float>("red.obs", {1, 2}, {1, 500}, {{"normalise_observations", false}}) ==
          "red.obs has numbers as large as 500, and observations are not normalised");
    CHECK(shown_of_array<float>("obs", {1, 2}, {1, 500}).empty());
}

TEST_CASE("masks that leave nothing open are named") {
    using Bytes = std::vector<uint8_t>;
    // One step does not tell which choices are never open.
    CHECK(shown_of_array("mask", {3, 2}, Bytes{1, 0, 1, 0, 1, 0}).empty());
    CHECK(shown_of_array("mask", {3, 2}, Bytes{0, 0, 0, 0, 1, 1}) ==
          "mask leaves no choice open in 2 of 3 rows, where the first choice is taken");
    CHECK(shown_of_array("mask", {3, 2}, Bytes{0, 0, 0, 0, 1, 1}, Json::object(), true).empty());
    CHECK(shown_of_array("mask", {2, 2}, Bytes{1, 0, 0, 1}).empty());
    CHECK(shown_of_array("mask", {int64_t(1) << 60, 0}, Bytes{}).empty());
}

TEST_CASE("a choice that is open at no step is named with its part of the action") {
    OpenChoices open("mask", {{"action.go", 3}, {"action.say", 2}});
    const auto add = [&](std::vector<uint8_t> masks) { open.add(std::as_bytes(std::span(masks))); };
    const auto told = [&] {
        std::string text;
        for (const Suspicion& one : open.never_open()) text += one.what + "\n";
        return text;
    };
    add({0, 0, 0, 0, 0});    // of an agent that waits
    CHECK(open.all());
    CHECK(told().empty());
    add({1, 0, 0, 1, 0, 1, 0, 0, 1, 0});
    CHECK(told() == "mask closes choices 1 and 2 of action.go in all of 2 rows of 2 steps\n"
                    "mask closes choice 1 of action.say in all of 2 rows of 2 steps\n");
    add({0, 0, 1, 0, 1});
    CHECK(!open.all());
    CHECK(told() == "mask closes choice 1 of action.go in all of 3 rows of 3 steps\n");
    add({0, 1, 0, 1, 0});
    CHECK(open.all());
    OpenChoices many("mask", {{"action.go", 20}});
    std::vector<uint8_t> first(20);
    first[0] = 1;
    many.add(std::as_bytes(std::span(first)));
    CHECK(contains(many.never_open().front().what, " choices 1, 2, 3, 4, 5, 6, 7 and 12 more of "));
}

TEST_CASE("the kl of a single update an iteration is not asked for") {
    const auto kl_of = [](double updates) {
        return shown({{"tagger.kl", always(0)}, {"tagger.updates", always(updates)}});
    };
    CHECK(kl_of(1).empty());
    CHECK(kl_of(16) == "tagger.kl was never above 1e-07, so that the policy stays as it began");
}

TEST_CASE("a policy whose agents never act is named, and not what follows from that") {
    const auto curves = [](const std::string& policy, double entropy) {
        std::vector<std::pair<std::string, Curve>> all = {{policy + "updates", always(16)}};
        for (const char* const name : {"loss.policy", "loss.value", "kl", "gradient_norm"})
            all.emplace_back(policy + name, always(0));
        all.emplace_back(policy + "entropy", always(entropy));
        return all;
    };
    auto alone = curves("", 0);
    alone.emplace_back("episode.return", always(0));
    alone.emplace_back("episode.length", always(10));
    CHECK(shown(alone) == "no agent acted, so that there was nothing to learn from");
    CHECK(shown(alone, 2) == "no agent acted, so that there was nothing to learn from");
    CHECK(shown(curves("tagger.", 0)) ==
          "no agent of 'tagger' acted, so that there was nothing to learn from");
    CHECK(shown(curves("", 0.1)) ==
          "kl was never above 1e-07, so that the policy stays as it began");
}

TEST_CASE("actions that lie at their bounds are named") {
    const std::string name = "action.torque";
    CHECK(shown_of_array<float>(name, {4}, {-2, 2, 2, -2}) ==
          "action.torque is -2 or 2 in 4 of 4 rows, and hardly anything between");
    CHECK(shown_of_array<float>(name, {4}, {-2, 2, 0.5f, 1}).empty());
    CHECK(shown_of_array<float>(name, {2}, {1, 1}).empty());
}

TEST_CASE("a learner's reward_scale that is no number is none") {
    const std::vector<std::pair<std::string, Curve>> large = {
        {"episode.return", [](double) { return 1e6; }}};
    CHECK(found_in(large, readings, {{"reward_scale", {{"linear", {1, 0}}}}}).size() == 1);
    CHECK(found_in(large, readings, {{"reward_scale", "auto"}}).size() == 1);
    CHECK(found_in(large, readings, {{"reward_scale", 1e-6}}).empty());
}
