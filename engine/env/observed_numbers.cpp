#include "engine/env/observed_numbers.h"

namespace nacelle {

size_t observed_numbers(const EnvSchema& schema, uint32_t group) {
    size_t numbers = 0;
    for (const Field& field : schema.fields())
        if (field.role == Role::obs && field.group == group) numbers += field.count;
    return numbers;
}

std::vector<Observed> observed_arrays(const EnvSchema& schema, uint32_t group) {
    std::vector<Observed> arrays;
    for (const bool image : {false, true})
        for (const Field& field : schema.fields()) {
            if (field.role != Role::obs || field.group != group) continue;
            const size_t count = image ? field.count : schema.header().group[group].obs_width;
            if ((field.kind == Kind::array) == image && count) arrays.push_back({&field, count});
        }
    return arrays;
}

}
