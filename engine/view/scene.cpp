#include "engine/view/scene.h"

#include "engine/base/error.h"

namespace nacelle {
namespace {

constexpr size_t alignment = 64;

// The elements of one environment lie side by side, element by element or in one piece.
void copy_part(Environment& env, const Scene::Part& part, uint32_t which, std::byte* to) {
    const Field& field = part.field;
    const size_t unit = dtype_size(field.dtype), rows = part.rows * env.count();
    const auto* const from = static_cast<const std::byte*>(env.arrays()[field.name].device());
    Stream& stream = *env.on().stream;
    if (field.layout == Layout::rows) {
        stream.to_host(to, from + which * part.bytes, part.bytes);
        return;
    }
    const size_t piece = part.rows * unit;
    for (size_t k = 0; k < field.count; ++k)
        stream.to_host(to + k * piece, from + k * rows * unit + which * piece, piece);
}

}

const Scene::Part* Scene::find(std::string_view field) const {
    for (const Part& part : parts)
        if (part.field.name == field) return &part;
    return nullptr;
}

double Scene::number(const Part& part, size_t row, size_t element) const {
    const size_t at = part.field.layout == Layout::columns ? element * part.rows + row
                                                           : row * part.field.count + element;
    return read_number(part.field.dtype,
                       memory.data() + part.offset + at * dtype_size(part.field.dtype));
}

Scene copy_arrays(Environment& env, uint32_t which) {
    if (which >= env.count())
        throw Error(env.name(), "there is no environment " + std::to_string(which),
                    "there are 0 to " + std::to_string(env.count() - 1));
    const EnvSchema& schema = env.schema();
    Scene scene;
    scene.name = env.name();
    scene.layout = schema.header().layout;
    size_t bytes = 0;
    for (const Field& field : schema.fields()) {
        if (field.slot < 0 || (field.per != Per::env && field.per != Per::row)) continue;
        const size_t rows = schema.rows(field, env.count()) / env.count(),
                     size = rows * field.count * dtype_size(field.dtype);
        scene.parts.push_back({field, bytes, size, rows});
        bytes += (size + alignment - 1) / alignment * alignment;
    }
    scene.memory.resize(bytes);
    for (const Scene::Part& part : scene.parts)
        copy_part(env, part, which, scene.memory.data() + part.offset);
    scene.tick = env.tick();    // waits for the copies, too
    return scene;
}

}
