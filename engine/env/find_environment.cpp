#include "engine/env/find_environment.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

bool is_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".cu");
}

[[noreturn]] void say_not_found(const std::string& name, const std::vector<fs::path>& folders) {
    std::vector<std::string> names;
    std::string places;
    for (size_t i = 0; i < folders.size(); ++i) {
        places += (i == 0 ? " in " : i + 1 < folders.size() ? ", " : " or ") + folders[i].string();
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(folders[i], ignored))
            if (entry.path().extension() == ".cu") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    throw Error(name, "there is no such environment" + places, suggest(name, names));
}

}

fs::path find_environment(const std::string& name, const std::vector<fs::path>& folders) {
    if (name.empty()) throw Error("env.source", "no environment is named");
    if (is_path(name)) {
        std::error_code wrong;    // a name may be too long for any file
        if (!fs::exists(name, wrong)) throw Error(name, "no such file");
        if (fs::is_directory(name, wrong))
            throw Error(name, "is a directory, not an environment", "name a .cu file");
        return fs::absolute(name).lexically_normal();
    }
    const std::vector<fs::path> files = files_of_name(name, folders);
    if (files.empty()) say_not_found(name, folders);
    return files.front();
}

std::vector<fs::path> files_of_name(const std::string& name, const std::vector<fs::path>& folders) {
    std::vector<fs::path> files;
    if (name.empty() || is_path(name)) return files;
    for (const fs::path& folder : folders) {
        const fs::path file = folder / (name + ".cu");
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored))
            files.push_back(fs::absolute(file).lexically_normal());
    }
    return files;
}

}
