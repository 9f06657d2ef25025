#include "engine/env/observed_numbers.h"

namespace nacelle {

size_t observed_numbers(const EnvSchema& schema, uint32_t group) {
    size_t numbers = 0;
    for (const Field* field : observed_arrays(schema, group)) numbers += field->count;
    return numbers;
}

std::vector<const Field*> observed_arrays(const EnvSchema& schema, uint32_t group) {
    std::vector<const Field*> arrays;
    for (const bool image : {false, true})
        for (const Field& field : schema.fields())
            if (field.role == Role::obs && field.group == group &&
                (field.kind == Kind::array) == image)
                arrays.push_back(&field);
    return arrays;
}

}
