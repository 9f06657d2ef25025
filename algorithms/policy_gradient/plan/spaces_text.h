#pragma once
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/json_text.h"

namespace learn {

// A JSON list of objects, each written already.
inline std::string list_text(const std::vector<std::string>& objects) {
    std::string text;
    for (const std::string& object : objects) text += (text.empty() ? "" : ", ") + object;
    return "[" + text + "]";
}

// The arrays that a row of a group's observations is put together from: its numbers, then its images, unless only
// numbers are seen.
inline std::string observation_text(const SchemaView& schema, uint32_t group, bool images) {
    std::vector<std::string> arrays;
    for (const bool image : {false, true})
        for (uint32_t i = 0; i < schema.header().fields && (images || !image); ++i) {
            const nacelle::Field& field = schema.field(i);
            if (field.role == nacelle::Role::obs && field.group == group &&
                (field.kind == nacelle::Kind::array) == image)
                arrays.push_back(
                    JsonText().text("name", field.name).number("count", field.count).done());
        }
    return list_text(arrays);
}

// The parts of a group's actions, one by one.
inline std::string actions_text(const SchemaView& schema, uint32_t group) {
    std::vector<std::string> parts;
    schema.each_action(group, [&](const nacelle::Field& field) {
        JsonText part;
        part.text("name", field.name);
        if (field.kind == nacelle::Kind::discrete) part.number("choices", field.choices);
        else part.number("low", double(field.low)).number("high", double(field.high));
        parts.insert(parts.end(), field.count, part.done());
    });
    return list_text(parts);
}

}
