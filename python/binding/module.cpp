#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/other_writer.h"
#include "engine/base/text.h"
#include "engine/run/author_files.h"
#include "engine/run/configuration.h"
#include "engine/run/directory.h"
#include "python/binding/batch.h"
#include "python/binding/open_engine.h"
#include "python/binding/training.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

using namespace nb::literals;
using Folders = std::vector<std::filesystem::path>;
using enum Call::Length;

std::shared_ptr<OpenEngine> open_engine(const std::string& backend, int threads,
                                        const Folders& env_folders, const Folders& plugin_folders) {
    const nb::gil_scoped_release released;
    return std::make_shared<OpenEngine>(backend, threads, env_folders, plugin_folders);
}

std::shared_ptr<Batch> load(OpenEngine& self, const std::string& configuration) {
    std::optional<Env> env;
    {
        const Call call(*self.use, lengthy);
        const Json json = parse_json(configuration, "make");
        env =
            self.engine.load(json.at("env").at("source").get<std::string>(), json.at("env"),
                             json.value("seed", uint64_t(1)), json.value("hooks", Json::object()));
    }
    raise_interruption();
    return std::make_shared<Batch>(self.use, std::move(*env));
}

// The settings beside an environment's source with changes over them, each "KEY=JSON", and the source's absolute path.
std::string configuration(const std::string& source, const std::vector<std::string>& changes,
                          const Folders& env_folders, const Folders& plugin_folders) {
    return json_text(resolve_configuration({.env = source,
                                            .file = {},
                                            .assignments = changes,
                                            .env_folders = env_folders,
                                            .plugin_folders = plugin_folders})
                         .json);
}

// In JSON, by the files' names.
std::string source_hashes(const std::filesystem::path& source, const std::string& params) {
    return json_text(
        author_files(source, read_closure(source), parse_json(params, "params")).hashes.files);
}

}
}

NB_MODULE(_engine, module) {
    using namespace nacelle;
    using namespace nacelle::python;
    using namespace nb::literals;
    module.doc() = "The engine, for the modules of this package.";
    count_forks();
    nb::set_leak_warnings(false);    // at exit Python may leave objects that others hold
    const nb::tuple bases =
        nb::make_tuple(nb::borrow(PyExc_RuntimeError), nb::borrow(PyExc_ValueError));
    nb::exception<Error>(module, "Error", bases);
    bind_device_array(module);
    bind_step_outputs(module);
    bind_own_arrays(module);
    bind_batch(module);
    nb::class_<OpenEngine>(module, "Engine", "A device, its compiler and its plugins.")
        .def(nb::new_(&open_engine), "backend"_a, "threads"_a, "env_folders"_a, "plugin_folders"_a)
        .def_prop_ro("backend", [](const OpenEngine& self) { return self.engine.backend(); })
        .def_prop_ro("why", [](const OpenEngine& self) { return self.engine.why(); })
        .def("load", &load, "configuration"_a);
    bind_training(module);
    module.def(
        "taken_type", [](const std::string& name) { return uint32_t(taken_type(name)); }, "name"_a,
        "The number by which step_at knows a type of actions.");
    module.def("configuration", &configuration, "source"_a, "changes"_a, "env_folders"_a,
               "plugin_folders"_a);
    module.def("source_hashes", &source_hashes, "source"_a, "params"_a,
               "The hashes of an environment's file, of its includes, and of the tables in its "
               "parameters.");
    module.def(
        "read_plain",
        [](const std::filesystem::path& path, size_t most) {
            const std::string bytes = read_plain_file(path, most);
            return nb::bytes(bytes.data(), bytes.size());
        },
        "path"_a, "most"_a,
        "The bytes of a file that is no pipe, no device, and no longer than that.");
    module.def(
        "printable", [](const std::string& text) { return printable(text); }, "text"_a,
        "A text with what a terminal would obey written out.");
    module.def(
        "other_writer", &other_writer, "path"_a,
        "The way in which another user could replace a file or folder; empty: there is none.");
    module.def(
        "require_own_folder", &require_own_folder, "path"_a,
        "Refuses a folder with links to the outside, with pipes, or with folders of another user.");
}
