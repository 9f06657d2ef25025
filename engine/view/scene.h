#pragma once
#include "engine/env/environment.h"

#include <nacelle/view.h>

namespace nacelle {

// Everything that a picture of one environment can show: copies of its part of every array in the layout of a batch
// of one, its parameters and its progress in the run. It needs no device.
struct Scene {
    // A stored field and the position of its data.
    struct Part {
        Field field;
        size_t offset, bytes;
        size_t rows;    // of this one environment
    };

    std::string name;       // of the environment
    uint64_t layout = 0;    // of the schema that the parts are from
    uint64_t tick = 0;
    ViewHead head{};
    std::vector<Part> parts;
    std::vector<std::byte> memory;
    std::vector<std::byte> params;
    // A table's data, by its field's offset in params.
    std::vector<std::pair<uint32_t, std::vector<std::byte>>> tables;

    const Part* find(std::string_view field) const;
    // The k-th element of a row, as a number.
    double number(const Part& part, size_t row, size_t element) const;
};

// Copies the arrays; head, params and tables stay empty. Waits for the environment's stream.
Scene copy_arrays(Environment& env, uint32_t which);

}
