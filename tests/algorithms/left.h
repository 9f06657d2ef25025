#pragma once
#include "tests/algorithms/lesson.h"

#include <map>

namespace nacelle::test {

// All arrays that there are after so many iterations: the environment's, and what the learner keeps; not what a clock
// showed.
inline std::map<std::string, std::vector<std::byte>> left_by(Lesson& lesson, int iterations) {
    lesson.iterate(iterations);
    std::map<std::string, std::vector<std::byte>> all;
    for (const NamedArray& one : lesson.env().arrays().all())
        if (one.name().find("marks") == std::string::npos) all[one.name()] = bytes_of(one);
    return all;
}

}
