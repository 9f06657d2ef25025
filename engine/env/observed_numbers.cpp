#include "engine/env/observed_numbers.h"

namespace nacelle {

size_t observed_numbers(const EnvSchema& schema, uint32_t group) {
    size_t numbers = 0;
    for (const Field& field : schema.fields())
        if (field.role == Role::obs && field.group == group) numbers += field.count;
    return numbers;
}

}
