#include "engine/view/drawing.h"

#include "engine/base/error.h"
#include "engine/compile/compilable_path.h"
#include "engine/view/array_picture.h"

#include <nacelle/kernel.h>
#include <nacelle/programs/arguments.h>

#include <cstring>

namespace nacelle {
namespace {

size_t table_bytes(const Field& field, int32_t count) {
    size_t elements = field.dims[0] ? field.dims[0] : size_t(std::max(count, 0));
    for (uint32_t i = 1; i < field.rank; ++i) elements *= field.dims[i];
    return elements * dtype_size(field.dtype);
}

}

Drawing::Drawing(Environment& env) : env_(env) {
    if (!env.schema().header().has_draw) return;
    const EnvSettings& settings = env.settings();
    // The version that runs: what was saved since may not compile.
    program_ = std::make_unique<DrawProgram>(
        compilable_path(env.on(), env.code().files),
        DrawProgram::Build{.constants = settings.constants,
                           .varied = varied_params(flatten_params(settings.params)),
                           .policies = settings.policies},
        env.on().cache->directory());
    if (program_->schema().header().layout != env.schema().header().layout)
        throw Error(settings.source.filename().string(),
                    "has changed since it was loaded: its arrays are others");
}

void Drawing::copy_params(Scene& scene) {
    const size_t size = env_.schema().header().params_size;
    Buffer bytes(env_.on().device, sizeof(ViewHead) + size);
    auto* const there = static_cast<unsigned char*>(bytes.data());
    const ParamsArgs args{.head = there, .params = there + sizeof(ViewHead)};
    env_.launch(env_.stepwise().kernel("nacelle_params"),
                thread_each(std::max(size, sizeof(ViewHead))), args_of(args));
    scene.params.resize(size);
    env_.on().stream->to_host(&scene.head, args.head, sizeof scene.head);
    env_.on().stream->to_host(scene.params.data(), args.params, size);
    env_.on().stream->synchronize();
}

void Drawing::copy_tables(Scene& scene) {
    for (const Field* field : env_.schema().params()) {
        if (field->kind != Kind::table) continue;
        struct {
            const void* first;
            int32_t count;
        } table{};
        std::memcpy(&table.first, scene.params.data() + field->offset, sizeof table.first);
        std::memcpy(&table.count, scene.params.data() + field->offset + sizeof table.first,
                    sizeof table.count);
        std::vector<std::byte> data(table_bytes(*field, table.count));
        env_.on().stream->to_host(data.data(), table.first, data.size());
        env_.on().stream->synchronize();
        scene.tables.emplace_back(field->offset, std::move(data));
    }
}

Scene Drawing::copy(uint32_t which) {
    Scene scene = copy_arrays(env_, which);
    if (!program_) return scene;
    copy_params(scene);
    scene.head.first_env += which;
    copy_tables(scene);
    return scene;
}

DisplayList Drawing::paint(const Scene& scene) {
    if (!program_) return picture_of_arrays(scene);
    return program_->paint(scene);
}

}
