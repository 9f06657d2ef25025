#pragma once
#include <nacelle/plugin/schema_view.h>

namespace learn {

// What a learner asks of an environment's schema.
class SchemaView final : public nacelle::plugin::Schema {
public:
    using Schema::Schema;

    // fn(field) for the parts of a group's actions.
    template <class Fn> void each_action(uint32_t group, Fn&& fn) const {
        for (uint32_t i = 0; i < header().fields; ++i)
            if (field(i).role == nacelle::Role::action && field(i).group == group) fn(field(i));
    }
    // Elements of the images that a group sees, and what a network sees: its numbers, too.
    uint32_t image_elements(uint32_t group) const {
        uint32_t all = 0;
        for (uint32_t i = 0; i < header().fields; ++i)
            if (field(i).role == nacelle::Role::obs && field(i).kind == nacelle::Kind::array &&
                field(i).group == group)
                all += field(i).count;
        return all;
    }
    uint32_t seen(uint32_t group) const {
        return header().group[group].obs_width + image_elements(group);
    }
    bool has_continuous(uint32_t group) const {
        return count(group, nacelle::Kind::continuous) > 0;
    }
    // Parts of a group's actions, of one kind.
    uint32_t count(uint32_t group, nacelle::Kind kind) const {
        uint32_t parts = 0;
        each_action(group, [&](const nacelle::Field& f) { parts += f.kind == kind ? f.count : 0; });
        return parts;
    }
    uint32_t choices(uint32_t group) const {
        uint32_t all = 0;
        each_action(group, [&](const nacelle::Field& f) {
            all += f.kind == nacelle::Kind::discrete ? f.count * uint32_t(f.choices) : 0;
        });
        return all;
    }
};

}
