#include "engine/view/draw_program.h"

#include "engine/base/error.h"
#include "engine/compile/layout_defines.h"
#include "engine/jit/host_toolchain.h"

#include <cstring>
#include <nacelle/kernel.h>
#include <nacelle/programs/drawing.h>

namespace nacelle {
namespace {

constexpr const char* drawing_text = "#include <nacelle/programs/drawing.h>\nNACELLE_DRAWING()\n";

// The options of a checked build. Signed overflow also stays defined, so that no bounds check is optimised away
// because of it.
void add_checks(ProgramText& text, bool clang) {
    text.defines.insert(text.defines.end(),
                        {"NACELLE_CHECKED", "NACELLE_FAULTS_THROW", "_GLIBCXX_ASSERTIONS"});
    text.options = bounds_checks(clang);
    text.options.insert(text.options.begin(), {"-O1", "-fwrapv"});
}

ProgramText program_text(RunsOn& host, const std::filesystem::path& source,
                         const DrawProgram::Build& build) {
    ProgramText text{.instantiation = drawing_text,
                     .headers = {},
                     .defines = layout_defines(build.constants, build.varied, build.policies,
                                               source.filename().string())};
    if (build.checked) add_checks(text, find_host_toolchain(*host.cache).clang);
    return text;
}

// The view for draw(): that of a batch of one, made of copies.
class HostView final {
public:
    HostView(const EnvSchema& schema, const Scene& scene) : memory_(schema.header().view_size) {
        const Header& header = schema.header();
        scene_ = scene.memory;
        clock_.tick = scene.tick;
        clock_.bad = ~uint64_t(0);
        ViewHead head = scene.head;
        head.clock = &clock_;
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
    RunClock clock_{};
};

}

DrawProgram::DrawProgram(const std::filesystem::path& source, const Build& build,
                         const std::filesystem::path& cache)
    : host_(open_backend({.backend = "cpu", .threads = 1, .cache = cache, .env_folders = {}})),
      program_(*host_, compile_program(*host_, source, program_text(*host_, source, build)),
               source.filename().string()),
      draw_(program_.kernel("nacelle_draw")) {}

DisplayList DrawProgram::paint(const Scene& scene) {
    if (scene.layout != schema().header().layout)
        throw Error(scene.name, "the copy is from another version of the environment");
    const HostView view(schema(), scene);
    Painter painter;
    const DrawArgs args{
        .sink = &painter, .put = &Painter::put, .fail = &Painter::fail, .tick = scene.tick};
    // A stream of its own: two threads may paint at the same time.
    const auto stream = host_->device->stream();
    launch_program(*host_, *stream, draw_, thread_each(1), view.data(), args_of(args));
    return painter.take(scene.name);
}

}
