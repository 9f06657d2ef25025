#include "engine/base/installation.h"

#include <algorithm>
#include <optional>
#include <sys/auxv.h>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

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

// True if all who could change what lies in a folder could change the file that runs, too, which lies in `beside`. So nothing
// that somebody else put around a copy of the program belongs to it.
bool is_changed_by_the_same(const fs::path& folder, const fs::path& beside) {
    struct stat status {};
    struct stat own {};
    if (::stat(folder.c_str(), &status) != 0 || ::stat(beside.c_str(), &own) != 0) return false;
    const bool group_writes = (status.st_mode & S_IWGRP) != 0;
    const auto is_one_of = [](auto id, std::initializer_list<decltype(id)> ids) {
        return std::ranges::find(ids, id) != ids.end();
    };
    return (status.st_mode & S_IWOTH) == 0 &&
           is_one_of(status.st_uid, {uid_t(0), ::geteuid(), own.st_uid}) &&
           (!group_writes || is_one_of(status.st_gid, {gid_t(0), ::getegid(), own.st_gid}));
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
    const fs::path beside = fs::canonical(own.file, trouble).parent_path();
    const std::optional<fs::path> below = below_prefix(own.installed_in);
    if (trouble || !below) return std::nullopt;
    fs::path folder = beside;
    for (auto part = below->end(); part != below->begin(); folder = folder.parent_path())
        if (folder.filename() != *--part) return std::nullopt;
    if (!is_changed_by_the_same(folder, beside)) return std::nullopt;
    return folder;
}

fs::path place_of(const char* folder, const std::optional<fs::path>& prefix) {
    const std::optional<fs::path> below = below_prefix(folder);
    if (!prefix || !below) return folder;
    fs::path place = *prefix;
    for (const fs::path& part : *below)
        if (!is_changed_by_the_same(place /= part, *prefix)) return folder;
    return place;
}

}

Installation installation() {
    const std::optional<fs::path> prefix = prefix_now();
    return {.environments = place_of(NACELLE_DATA_FOLDER "/env_sources", prefix),
            .plugins = place_of(NACELLE_PLUGIN_FOLDER, prefix)};
}

fs::path own_build() {
    std::error_code trouble;
    const fs::path beside = fs::canonical(own_file().file, trouble).parent_path(),
                   build = beside.parent_path();
    if (trouble || !fs::is_directory(build / "meson-info", trouble)) return {};
    return is_changed_by_the_same(build, beside) ? build : fs::path();
}

fs::path own_sources() {
    const fs::path build = own_build(), root = build.parent_path(), place = root / "env_sources";
    if (build.empty() || !is_changed_by_the_same(root, build)) return {};
    return is_changed_by_the_same(place, build) ? place : fs::path();
}

bool ships_environments(const fs::path& folder) {
    std::vector<fs::path> places = {installation().environments};
    if (const fs::path sources = own_sources(); !sources.empty()) places.push_back(sources);
    if (const OwnFile own = own_file(); own.library) {
        const fs::path beside = own.file.parent_path();
        if (is_changed_by_the_same(beside, beside)) places.push_back(beside / "env_sources");
    }
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
