#pragma once
#include "tests/algorithms/lesson.h"

#include <map>

namespace nacelle::test {

// Asked for the first environments alone, a learner acts there as for all, and behind a block of them for none.
inline void hold_for_some(Lesson& lesson) {
    constexpr uint32_t some = 7, block = 128;
    Environment& env = lesson.env();
    const auto actions = [&] {
        std::map<std::string, std::vector<double>> found;
        for (const Field& field : env.schema().fields())
            if (field.role == Role::action) found[field.name] = numbers(env, field.name);
        return found;
    };
    lesson.learner().act(true);
    const auto all = actions();
    for (NamedArray& array : env.arrays().all())
        if (array.role() == Role::action) env.on().stream->fill(array.device(), 0, array.bytes());
    lesson.learner().act(true, some, nullptr);
    const auto first = actions();
    size_t acted = 0;
    for (const Field& field : env.schema().fields()) {
        if (field.role != Role::action) continue;
        const std::vector<double>&is = first.at(field.name), &must = all.at(field.name);
        const size_t rows = is.size() / field.count;
        for (size_t i = 0; i < is.size(); ++i) {
            const size_t at = i % rows / (rows / env.count());
            if (at < some) CHECK(is[i] == must[i]);
            if (at >= some + block) CHECK(is[i] == 0);
            acted += at < some && is[i] != 0;
        }
    }
    CHECK(acted > 0);
}

}
