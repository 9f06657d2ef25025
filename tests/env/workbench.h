#pragma once
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/check/variant.h"
#include "engine/compile/embedded_sdk.h"
#include "engine/env/environment.h"
#include "tests/support/folders.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

// What tests of environments share: places, a backend, an author's file and its arrays as numbers.
namespace nacelle::test {

inline const std::filesystem::path env_folder = source_path("env_sources");

// A folder of a test's own, gone with it.
class Folder final {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "nacelle-env-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("no folder for a test");
        path_ = std::filesystem::canonical(name);
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, std::string_view text) const {
        write_file(path_ / name, text);
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

// Most of a test's time is compiling, so that what was compiled is kept from one run to the next. It
// is found by all that it was made from: nothing old can come back. Programs that a test starts find
// it under $XDG_CACHE_HOME.
inline std::filesystem::path cache_home() {
    return std::filesystem::temp_directory_path() /
           ("nacelle-tests-" + std::to_string(::geteuid()));
}
inline std::filesystem::path cache_place() { return cache_home() / "nacelle"; }
inline std::shared_ptr<Cache> shared_cache() {
    return std::make_shared<Cache>(cache_place(), size_t(512) << 20);
}

inline std::shared_ptr<RunsOn> open(const std::string& backend, int threads = 2) {
    return open_backend({.backend = backend,
                         .threads = threads,
                         .cache = cache_place(),
                         .env_folders = {env_folder}});
}
inline std::shared_ptr<RunsOn> cpu(int threads = 2) { return open("cpu", threads); }
// The script of tests/support that $CXX begins with; empty where what is compiled has the flags that users have.
inline std::string compiling_script() {
    const char* const compiler = std::getenv("CXX");
    const std::string words = compiler ? compiler : "", script = words.substr(0, words.find(' '));
    return script.ends_with("_compiler") ? script : "";
}
// While it lives, another script compiles; without a name, none.
class CompiledBy final {
public:
    explicit CompiledBy(const std::string& name) {
        const std::string script = compiling_script();
        if (script.empty()) return;
        before_ = std::getenv("CXX");
        const std::string compiler = before_.substr(script.size() + 1),
                          other = script.substr(0, script.rfind('/') + 1) + name;
        ::setenv("CXX", name.empty() ? compiler.c_str() : (other + ' ' + compiler).c_str(), 1);
    }
    ~CompiledBy() {
        if (!before_.empty()) ::setenv("CXX", before_.c_str(), 1);
    }
    CompiledBy(const CompiledBy&) = delete;
    CompiledBy& operator=(const CompiledBy&) = delete;

private:
    std::string before_;
};

// Compiles by the flags that users have, which takes a compiler up to four times as long.
inline std::shared_ptr<RunsOn> cpu_of_users(int threads = 2) {
    const CompiledBy flags("");
    return cpu(threads);
}

// A CPU that compiles another build of the same code.
inline std::shared_ptr<RunsOn> cpu_for(Variant variant) {
    // Where a script or a sanitizer decides on the level, another -O would only compile the same once more.
    bool decided = !compiling_script().empty();
#ifdef NACELLE_SANITIZE
    decided |= !std::getenv("NACELLE_UNINSTRUMENTED");
#endif
    if (decided) std::erase(variant.options, "-O1");
    return open_variant({.backend = "cpu", .cache = cache_place(), .env_folders = {env_folder}},
                        variant, nullptr);
}
// For what does not depend on speed.
inline std::shared_ptr<RunsOn> quick_cpu(int threads = 2) {
    Variant variant = Variant::quick();
    variant.threads = threads;
    return cpu_for(std::move(variant));
}

// The names of all environments that come with the engine.
inline std::vector<std::string> all_environments() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(env_folder))
        if (entry.path().extension() == ".cu") names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

// The configuration's "env", as a run would read it.
inline EnvSettings settings_of(const Json& env, uint64_t seed = 1) {
    const Config whole(Json{{"env", env}}, "run.json");
    return read_env_settings(Config(whole).object("env"), seed, {env_folder});
}
// One of the engine's environments with the settings that lie beside it.
inline EnvSettings recommended(const std::string& name, uint32_t count, uint64_t seed = 1) {
    Json env = load_json(env_folder / (name + ".json")).value("env", Json::object());
    env["source"] = name;
    env["count"] = count;
    return settings_of(env, seed);
}

// The engine's kernels around an author's file, for a compiler of its own.
inline ProgramSource stepwise_program(const std::filesystem::path& author) {
    ProgramSource source;
    source.author = author;
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    source.instantiation = "#include <nacelle/programs/stepwise.h>\nNACELLE_STEPWISE()\n";
    return source;
}

// What the engine says when `work` fails, or an empty text where it does not.
template <class Work> std::string complaint(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}
inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::vector<double> numbers(Environment& env, const std::string& name) {
    return env.arrays()[name].numbers();
}
inline void write_numbers(Environment& env, const std::string& name,
                          const std::vector<double>& values) {
    NamedArray& array = env.arrays()[name];
    const size_t size = dtype_size(array.dtype());
    std::vector<std::byte> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i)
        write_number(array.dtype(), bytes.data() + i * size, values[i]);
    array.write_bytes(bytes.data(), values.size());
}
inline void fill_numbers(Environment& env, const std::string& name, double value) {
    write_numbers(env, name, std::vector<double>(env.arrays()[name].count(), value));
}

inline std::vector<std::byte> bytes_of(const NamedArray& array) { return array.raw(); }
// The first array whose bytes differ, or an empty text.
inline std::string first_difference(Environment& a, Environment& b) {
    for (const NamedArray& array : a.arrays().all())
        if (bytes_of(array) != bytes_of(b.arrays()[array.name()])) return array.name();
    return {};
}

}
