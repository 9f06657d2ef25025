#pragma once
#include "tests/algorithms/cases.h"

// The ways through a network that a GPU knows, as cases of a test.
namespace nacelle::test {

inline Case with(Case c, const Json& policy, const Json& learner = Json::object()) {
    for (auto& [name, settings] : c.config["policies"].items()) settings.update(policy);
    c.config.update(learner);
    return c;
}
inline const Json narrow = {{"precision", "bf16"}}, wide = {{"precision", "f32"}},
                  on_threads = {{"emulate", true}, {"horizon", 5}},
                  briefly_on_threads = {{"emulate", true}, {"horizon", 3}};

inline Case streamed(size_t i, const char* precision, Json policy = Json::object()) {
    policy.update({{"execution", "streamed"}, {"precision", precision}});
    return with(cases()[i], policy);
}
// Widths beside those of tiles and of blocks, and such that take a CPU's threads minutes.
inline std::vector<Case> odd_widths(const char* precision) {
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
inline std::vector<Case> much_seen() {
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
// Values of critics that see more than their policies.
inline std::vector<Case> overseen_cases() {
    const Json gains = {{"choice", 1.0}};
    return {
        {"overseen", "ppo",
         for_all({{"hidden", {17, 9}},
                  {"gains", gains},
                  {"critic", {{"sees", {"global", "own"}}, {"hidden", {33, 8}}}}})},
        {"watched_team",
         "a2c",
         {{"policies",
           {{"even",
             {{"hidden", {12}},
              {"activation", "gelu"},
              {"gains", gains},
              {"critic", {{"sees", {"global", "team", "own"}}, {"hidden", {40, 7}}}}}},
            {"odd",
             {{"hidden", {5}},
              {"gains", gains},
              {"critic", {{"sees", {"team"}}, {"hidden", Json::array()}}}}}}}}},
        {"watched_team", "ppo",
         for_all({{"hidden", {9}},
                  {"gains", gains},
                  {"critic", {{"sees", {"global", "team"}}, {"hidden", {300, 140}}}}})},
    };
}
// The same with its critics' layers in one way.
inline Case overseen(size_t i, const char* precision, const char* execution, Json hidden = Json()) {
    Case c = with(overseen_cases()[i], {{"precision", precision}});
    for (auto& [name, settings] : c.config["policies"].items()) {
        settings["critic"]["execution"] = execution;
        if (!hidden.is_null()) settings["critic"]["hidden"] = hidden;
    }
    return c;
}
// Rows that go through all layers of an update in one kernel.
inline Case row_pass(size_t i, const char* precision, Json policy = Json::object()) {
    policy.update({{"execution", "row_pass"}, {"precision", precision}});
    return with(cases()[i], policy);
}
// Of several levels that come back from memory, of one layer, with inputs of activations kept, and of all widths.
inline std::vector<Case> row_passes(const char* precision) {
    const int wide = precision == std::string_view("bf16") ? 200 : 120;
    return {row_pass(0, precision, {{"hidden", {wide, 65, 3, 70}}, {"trunk", "separate"}}),
            row_pass(3, precision, {{"hidden", {70, 9}}}),
            row_pass(4, precision, {{"hidden", {129}}}),
            row_pass(1, precision, {{"hidden", {1, 63, 64}}}),
            row_pass(2, precision, {{"hidden", {255, 256, 193}}}),
            row_pass(0, precision, {{"hidden", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}}})};
}

}
