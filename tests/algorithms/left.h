#pragma once
#include "tests/algorithms/lesson.h"

#include <map>

// What two ways of the same iterations leave behind, to be compared bit by bit.
namespace nacelle::test {

using Left = std::map<std::string, std::vector<std::byte>>;

// All arrays: the environment's, and what the learner keeps. Not what a clock showed, nor what rows left at the layers on
// their way.
inline Left left_by(Lesson& lesson) {
    Left all;
    for (const NamedArray& one : lesson.env().arrays().all()) {
        const std::string name = one.name();
        const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
        if (!has("marks") && !has(".policy.stream.")) all[name] = bytes_of(one);
    }
    return all;
}
inline void hold_same(const Left& together, const Left& apart) {
    REQUIRE(together.size() == apart.size());
    for (const auto& one : apart) {
        CAPTURE(one.first);
        CHECK(together.at(one.first) == one.second);
    }
}

}
