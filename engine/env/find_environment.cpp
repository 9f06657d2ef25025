#include "engine/env/find_environment.h"

#include "engine/base/error.h"
#include "engine/base/installation.h"
#include "engine/base/other_writer.h"
#include "engine/base/suggest.h"
#include "engine/config/config.h"

#include <algorithm>
#include <sys/stat.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

// A path that the user wrote, as a file.
fs::path file_at(const std::string& path, const char* kind, const char* ending) {
    std::error_code wrong;    // a name may be too long for any file
    if (!fs::exists(path, wrong))
        throw Error(path, "no such file",
                    path.find('/') == path.npos ? "a name, as " + fs::path(path).stem().string() +
                                                      ", is looked for in other folders, too"
                                                : "");
    if (fs::is_directory(path, wrong)) {
        const bool run = fs::exists(fs::path(path) / "config.json", wrong);
        throw Error(path, std::string("is a directory, not ") + kind,
                    run ? "its config.json trains the settings of that run again"
                        : std::string("name a ") + ending + " file");
    }
    return fs::absolute(path).lexically_normal();
}

std::vector<fs::path> files_in(const std::vector<fs::path>& folders, const std::string& file) {
    std::vector<fs::path> files;
    for (const fs::path& folder : folders) {
        std::error_code ignored;
        if (fs::is_regular_file(folder / file, ignored))
            files.push_back(fs::absolute(folder / file).lexically_normal());
    }
    return files;
}

// Settings of a folder that are looked into for a name that is not there.
constexpr int most_read = 100;

[[noreturn]] void say_not_found(const std::string& name, const std::vector<fs::path>& folders,
                                bool or_settings) {
    std::vector<std::string> names;
    std::string places;
    for (size_t i = 0; i < folders.size(); ++i) {
        places += (i == 0 ? " in " : i + 1 < folders.size() ? ", " : " or ") + folders[i].string();
        std::error_code ignored;
        int read = 0;
        for (const auto& entry : fs::directory_iterator(folders[i], ignored))
            if (const fs::path ending = entry.path().extension();
                ending == ".cu" || (or_settings && ending == ".json" && ++read <= most_read &&
                                    says_environment(entry.path())))
                names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    throw Error(name, "there is no such environment" + places, suggest(name, names));
}

}

bool is_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".cu");
}

bool says_environment(const fs::path& file) {
    std::error_code ignored;
    if (fs::file_size(file, ignored) > 1 << 20) return false;
    try {
        const Json source = load_json(file).at("env").at("source");
        return source.is_string() && source != "";
    } catch (const std::exception&) {
        return false;
    }
}

Stranger stranger_among(const std::vector<SourceFile>& files) {
    if (files.empty() || ships_environments(files.front().path.parent_path())) return {};
    for (const SourceFile& file : files)
        if (std::string other = other_writer(file.path); !other.empty())
            return {file.path, std::move(other)};
    for (fs::path place : absent_includes(files)) {
        std::error_code ignored;
        const fs::path include = place;
        while (!fs::exists(place, ignored) && place.has_relative_path())
            place = place.parent_path();
        if (const std::string other = other_writer(place); !other.empty())
            return {include, "is not there, and its folder " + other};
    }
    return {};
}

Stranger stranger_in(const fs::path& named) {
    const Stranger found = stranger_among({{named, ""}});    // a stranger's file is not read
    if (!found.reason.empty() || named.extension() != ".cu") return found;
    std::error_code ignored;
    if (!fs::exists(named, ignored)) return {};
    return stranger_among(read_closure(named));
}

bool is_as_open(const fs::path& beside, const fs::path& environment) {
    const Stranger other = stranger_in(beside);
    if (other.reason.empty()) return true;
    struct stat one {};
    struct stat two {};
    if (other.reason != stranger_in(environment).reason || ::stat(beside.c_str(), &one) != 0 ||
        ::stat(environment.c_str(), &two) != 0)
        return false;
    constexpr mode_t others_write = S_IWGRP | S_IWOTH;
    return one.st_uid == two.st_uid && one.st_gid == two.st_gid &&
           (one.st_mode & others_write) == (two.st_mode & others_write);
}

std::string refused_version(const std::vector<SourceFile>& files) {
    const Stranger found = stranger_among(files);
    if (found.reason.empty()) return {};
    return found.file.string() + ": " + found.reason + ", so that this version is not compiled";
}

void require_no_stranger(const fs::path& named) {
    const Stranger found = stranger_in(named);
    if (found.reason.empty()) return;
    const fs::path path = named.lexically_proximate(fs::current_path());
    throw Error(found.file.string(), found.reason + ", so that its name alone does not run it",
                (path.has_parent_path() ? "" : "./") + path.string() + " does");
}

fs::path find_environment(const std::string& name, const std::vector<fs::path>& folders,
                          bool or_settings) {
    if (name.empty()) throw Error("env.source", "no environment is named");
    if (is_path(name)) return file_at(name, "an environment", ".cu");
    const std::vector<fs::path> files = files_of_name(name, folders);
    if (files.empty()) say_not_found(name, folders, or_settings);
    require_no_stranger(files.front());
    return files.front();
}

std::vector<fs::path> files_of_name(const std::string& name, const std::vector<fs::path>& folders) {
    if (name.empty() || is_path(name)) return {};
    return files_in(folders, name + ".cu");
}

std::vector<fs::path> settings_of_name(const std::string& name,
                                       const std::vector<fs::path>& folders) {
    if (name.ends_with(".json")) return {file_at(name, "settings", ".json")};
    if (name.empty() || is_path(name)) return {};
    std::vector<fs::path> files;
    for (const fs::path& folder : folders) {
        if (!files_of_name(name, {folder}).empty()) return files;
        for (const fs::path& file : files_in({folder}, name + ".json"))
            if (says_environment(file)) files.push_back(file);
    }
    return files.empty() ? files_in(folders, name + ".json") : files;
}

}
