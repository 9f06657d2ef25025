#pragma once
#include "tests/algorithms/iteration.h"

// Configurations that several tests share, since most of their time is compiling.
namespace nacelle::test {

struct Case {
    std::string env, learner;
    Json config;
    Json constants = Json::object();    // of the environment
};

// Every activation and form of network, with every kind of action.
inline std::vector<Case> cases() {
    const Json gains = {{"choice", 1.0}};
    return {
        {"choices", "ppo", for_all({{"hidden", {64, 64}}, {"gains", gains}})},
        {"choices", "ppo",
         for_all({{"hidden", {17, 33, 8}},
                  {"activation", "relu"},
                  {"trunk", "separate"},
                  {"gains", gains}})},
        {"choices", "a2c", for_all({{"hidden", {5}}, {"activation", "gelu"}, {"gains", gains}})},
        {"mixed", "ppo",
         for_all({{"hidden", {17, 33, 8}},
                  {"activation", "silu"},
                  {"gains", gains},
                  {"squash", true},
                  {"initial_deviation", 0.6}})},
        {"mixed", "ppo",
         for_all({{"hidden", {64, 64}},
                  {"activation", "gelu"},
                  {"trunk", "separate"},
                  {"gains", gains},
                  {"deviation", "state"}})},
        {"mixed", "a2c", for_all({{"hidden", Json::array()}, {"gains", gains}})},
        {"relay",
         "ppo",
         {{"policies",
           {{"runner", {{"hidden", {17, 33, 8}}, {"activation", "gelu"}, {"gains", gains}}},
            {"keeper",
             {{"hidden", Json::array()},
              {"trunk", "separate"},
              {"gains", gains},
              {"learner", {{"gamma", 0.8}}}}}}}}},
        {"trades",
         "ppo",
         {{"policies",
           {{"maker",
             {{"hidden", {5}}, {"activation", "silu"}, {"trunk", "separate"}, {"gains", gains}}},
            {"setter",
             {{"hidden", {64, 64}},
              {"activation", "relu"},
              {"deviation", "state"},
              {"squash", true},
              {"gains", gains}}}}}}},
        {"gallery",
         "ppo",
         {{"policies",
           {{"guide", {{"hidden", {12}}, {"trunk", "separate"}, {"gains", gains}}},
            {"guest", {{"hidden", {5}}, {"gains", gains}}}}}}},
        {"picture", "a2c", for_all({{"hidden", {9}}, {"gains", gains}})},
    };
}

// The places of those that a sanitizer build takes: kinds of actions, a team, and groups. All tests take the same, whose
// compilers' time is most of theirs.
inline constexpr std::initializer_list<size_t> sanitized_cases = {4, 6, 8};

// Convolutions of one channel, a few and many, with every setting that they have.
inline std::vector<Case> convolved_cases() {
    const Json gains = {{"choice", 1.0}};
    return {
        {"screen", "ppo",
         for_all({{"hidden", {{{"conv", 16}, {"size", 3}}, 9}}, {"gains", gains}})},
        {"screen", "ppo",
         for_all({{"hidden",
                   {{{"conv", 17}, {"size", {3, 2}}, {"stride", 2}, {"padding", 1}},
                    {{"conv", 5}, {"size", 2}}}},
                  {"activation", "gelu"},
                  {"trunk", "separate"},
                  {"gains", gains}})},
        {"screen", "a2c",
         for_all({{"hidden", {{{"one_hot", 4}}, {{"conv", 3}, {"size", 2}, {"padding", 1}}, 7}},
                  {"activation", "silu"},
                  {"gains", gains}})},
        {"picture", "ppo",
         for_all({{"hidden", {{{"conv", 1}, {"size", {4, 3}}}, {{"conv", 2}, {"size", 1}}, 5}},
                  {"gains", gains}})},
        {"screen", "ppo",
         for_all({{"hidden",
                   {{{"conv", 16}, {"size", 3}, {"padding", 1}},
                    {{"conv", 24}, {"size", {2, 3}}, {"stride", 2}, {"padding", 1}},
                    {{"conv", 8}, {"size", 2}},
                    20}},
                  {"activation", "relu"},
                  {"trunk", "separate"},
                  {"gains", gains}})},
        // Strides that leave some inputs to fewer of a kernel's rows than others, and to none; few samples to a block.
        {"screen", "ppo",
         for_all({{"hidden",
                   {{{"conv", 48}, {"size", 2}, {"padding", 1}},
                    {{"conv", 11}, {"size", {4, 3}}, {"stride", 3}, {"padding", 2}},
                    {{"conv", 16}, {"size", 2}, {"stride", 3}},
                    6}},
                  {"activation", "silu"},
                  {"gains", gains}})},
    };
}

}
