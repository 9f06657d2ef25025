#include "engine/base/installation.h"

#include "engine/base/other_writer.h"

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

// True if nobody else could change a folder of the program's, nor the files in it. So nothing that somebody put around a copy
// of the program belongs to it. Whoever can change the program itself need not put anything there.
bool is_own_folder(const fs::path& folder) {
    std::error_code trouble;
    if (!fs::is_directory(folder, trouble)) return false;
    if (!other_writer(own_file().file).empty()) return true;
    if (!other_writer(folder).empty()) return false;
    for (fs::directory_iterator each(folder, trouble), end; !trouble && each != end;
         each.increment(trouble))
        if (!other_writer(each->path()).empty()) return false;
    return !trouble;
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
    return prefix && below && is_own_folder(*prefix / *below) ? *prefix / *below : fs::path(folder);
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

std::vector<fs::path> own_plugins() {
    const fs::path build = own_build();
    if (build.empty()) return {installation().plugins};
    std::vector<fs::path> folders = {build / "plugins", build / "algorithms"};
    std::erase_if(folders, [](const fs::path& folder) { return !is_own_folder(folder); });
    return folders;
}

fs::path own_environments() {
    const fs::path build = own_build(), beside = build.parent_path() / "env_sources";
    return !build.empty() && is_own_folder(beside) ? beside : installation().environments;
}

bool ships_environments(const fs::path& folder) {
    std::vector<fs::path> places = {installation().environments, own_environments()};
    if (const OwnFile own = own_file(); own.library)
        if (const fs::path beside = own.file.parent_path() / "env_sources"; is_own_folder(beside))
            places.push_back(beside);
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
