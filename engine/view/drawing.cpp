#include "engine/view/drawing.h"

#include "engine/base/error.h"
#include "engine/view/array_picture.h"

#include <nacelle/kernel.h>
#include <nacelle/programs/drawing.h>

#include <cstring>
#include <sstream>

namespace nacelle {
namespace {

constexpr const char* drawing_text = "#include <nacelle/programs/drawing.h>\nNACELLE_DRAWING()\n";
constexpr const char* params_text = "#include <nacelle/programs/drawing.h>\nNACELLE_PARAMS()\n";

// What decides on the layout of the arrays: the constants that are set, and which parameters are drawn.
std::vector<std::string> layout_defines(const EnvSettings& settings) {
    std::ostringstream constants, names;
    constants.precision(17);
    for (const auto& [name, value] : settings.constants)
        constants << "{\"" << name << "\"," << value << "},";
    for (const std::string& name : varied_params(flatten_params(settings.params)))
        names << '"' << name << "\",";
    std::vector<std::string> defines;
    if (!settings.constants.empty()) defines.push_back("NACELLE_CONSTANTS=" + constants.str());
    if (!names.str().empty()) defines.push_back("NACELLE_VARIED=" + names.str());
    return defines;
}

size_t table_bytes(const Field& field, int32_t count) {
    size_t elements = field.dims[0] ? field.dims[0] : size_t(std::max(count, 0));
    for (uint32_t i = 1; i < field.rank; ++i) elements *= field.dims[i];
    return elements * dtype_size(field.dtype);
}

// What draw() is given: the view of a batch of one, made of copies.
class HostView final {
public:
    HostView(const EnvSchema& schema, const Scene& scene) : memory_(schema.header().view_size) {
        const Header& header = schema.header();
        scene_ = scene.memory;
        beat_.clock = scene.tick;
        beat_.bad = ~uint64_t(0);
        ViewHead head = scene.head;
        head.beat = &beat_;
        head.draws = nullptr;
        head.envs = 1;
        head.prefetch = 0;
        head.workspace = nullptr;
        std::memcpy(memory_.data(), &head, sizeof head);
        std::memcpy(at(header.params_offset), scene.params.data(), scene.params.size());
        for (const auto& [offset, data] : scene.tables) {
            const void* const first = data.data();
            std::memcpy(at(header.params_offset + offset), &first, sizeof first);
        }
        for (const Field& field : schema.fields()) bind(field, scene, header);
    }
    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;

    const void* data() const { return memory_.data(); }

private:
    std::byte* at(size_t offset) { return memory_.data() + offset; }
    void bind(const Field& field, const Scene& scene, const Header& header) {
        if (field.slot < 0) return;
        const Scene::Part* const part = scene.find(field.name);
        void* const there = part ? scene_.data() + part->offset : nullptr;
        std::memcpy(at(header.array_offset + size_t(field.slot) * sizeof there), &there,
                    sizeof there);
    }

    std::vector<std::byte> scene_;    // its own: an author's draw() may cast const away
    std::vector<std::byte> memory_;
    Beat beat_{};
};

}

Drawing::Drawing(Environment& env) : env_(env) {
    if (!env.schema().header().has_draw) return;
    host_ = open_backend(
        {.backend = "cpu", .threads = 1, .cache = env.on().cache->directory(), .env_folders = {}});
    program_ = std::make_unique<Program>(*host_, env.settings().source,
                                         ProgramText{.instantiation = drawing_text,
                                                     .headers = {},
                                                     .defines = layout_defines(env.settings())});
    if (program_->schema().header().layout != env.schema().header().layout)
        throw Error(env.settings().source.filename().string(),
                    "has changed since it was loaded: its arrays are others");
    draw_ = program_->kernel("nacelle_draw");
    // The one thing that a GPU must be asked for with a program of its own.
    params_ = env.on().cuda()
                  ? env.program({.instantiation = params_text, .headers = {}, .defines = {}})
                        .kernel("nacelle_params")
                  : program_->kernel("nacelle_params");
}

void Drawing::copy_params(Scene& scene) {
    const size_t size = env_.schema().header().params_size;
    Buffer bytes(env_.on().device, sizeof(ViewHead) + size);
    auto* const there = static_cast<unsigned char*>(bytes.data());
    const ParamsArgs args{.head = there, .params = there + sizeof(ViewHead)};
    env_.launch(params_, thread_each(std::max(size, sizeof(ViewHead))), args_of(args));
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
    if (scene.layout != program_->schema().header().layout)
        throw Error(scene.name, "the copy is from another version of the environment");
    const HostView view(program_->schema(), scene);
    Painter painter;
    const DrawArgs args{.sink = &painter, .put = &Painter::put, .tick = scene.tick};
    // A stream of its own: two threads may paint at the same time.
    const auto stream = host_->device->stream();
    launch_program(*host_, *stream, draw_, thread_each(1), view.data(), args_of(args));
    return painter.take(scene.name);
}

}
