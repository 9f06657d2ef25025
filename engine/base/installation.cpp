#include "engine/base/installation.h"

#include <algorithm>
#include <optional>
#include <sys/auxv.h>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <link.h>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

// The file that this code was loaded from, and the folder that it is installed into.
struct OwnFile {
    fs::path file;
    const char* installed_in;
    bool library;
};

OwnFile own_file() {
    Dl_info info{};
    link_map* entry = nullptr;
    void** const out = reinterpret_cast<void**>(&entry);
    const bool found =
        ::dladdr1(reinterpret_cast<void*>(&installation), &info, out, RTLD_DL_LINKMAP) != 0;
    // In the loader's list the program itself has no name.
    if (!found || !entry || !entry->l_name || !*entry->l_name)
        return {running_program(), NACELLE_PROGRAM_FOLDER, false};
    return {entry->l_name, NACELLE_LIBRARY_FOLDER, true};
}

// The path below the prefix, or none where it lies elsewhere: then it does not move with the tree.
std::optional<fs::path> below_prefix(const char* folder) {
    const fs::path below = fs::path(folder).lexically_relative(NACELLE_PREFIX);
    if (below.empty() || *below.begin() == "..") return std::nullopt;
    return below;
}

// The folder that the tree of this code lies in, or none where it is not an installed one: a build has other folders.
std::optional<fs::path> prefix_now() {
    const OwnFile own = own_file();
    std::error_code trouble;
    fs::path folder = fs::canonical(own.file, trouble).parent_path();
    const std::optional<fs::path> below = below_prefix(own.installed_in);
    if (trouble || !below) return std::nullopt;
    for (auto part = below->end(); part != below->begin(); folder = folder.parent_path())
        if (folder.filename() != *--part) return std::nullopt;
    return folder;
}

fs::path place_of(const char* folder, const std::optional<fs::path>& prefix) {
    const std::optional<fs::path> below = below_prefix(folder);
    std::error_code ignored;
    if (prefix && below && fs::is_directory(*prefix / *below, ignored)) return *prefix / *below;
    return folder;
}

}

Installation installation() {
    const std::optional<fs::path> prefix = prefix_now();
    return {.environments = place_of(NACELLE_DATA_FOLDER "/env_sources", prefix),
            .plugins = place_of(NACELLE_PLUGIN_FOLDER, prefix)};
}

fs::path own_build() {
    std::error_code trouble;
    const fs::path build = fs::canonical(own_file().file, trouble).parent_path().parent_path();
    return !trouble && fs::is_directory(build / "meson-info", trouble) ? build : fs::path();
}

bool ships_environments(const fs::path& folder) {
    std::vector<fs::path> places = {installation().environments};
    if (const fs::path build = own_build(); !build.empty())
        places.push_back(build.parent_path() / "env_sources");
    if (const OwnFile own = own_file(); own.library)
        places.push_back(own.file.parent_path() / "env_sources");
    return std::ranges::any_of(places, [&](const fs::path& place) {
        std::error_code missing;
        return fs::equivalent(folder, place, missing);
    });
}

fs::path running_program() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error) return self;
    // Without /proc: the path that the kernel executed.
    const auto* const started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return started && fs::exists(started, error) ? fs::absolute(started) : fs::path();
}

}
