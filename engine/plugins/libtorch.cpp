#include "engine/plugins/libtorch.h"

#include "engine/base/elf.h"
#include "engine/base/error.h"
#include "engine/base/other_writer.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

// As in tools/build/torch.sh; empty if no variable says where.
fs::path folder_of_libraries() {
    const std::string named = variable("NACELLE_TORCH"), data = variable("XDG_DATA_HOME");
    if (!named.empty()) return fs::path(named) / "lib";
    if (data.empty() && variable("HOME").empty()) return {};
    return (data.empty() ? fs::path(variable("HOME")) / ".local/share" : fs::path(data)) /
           "nacelle/torch/torch/lib";
}

bool is_open(const std::string& library) {
    void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle) ::dlclose(handle);
    return handle != nullptr;
}

// LibTorch's run paths name its own folder and those of NVIDIA's libraries, beside the folder `torch`. Other users can neither
// write nor add a library there, or LibTorch is refused.
void require_own_libraries(const fs::path& folder) {
    const fs::path around = folder.parent_path().parent_path();
    std::vector<fs::path> folders = {folder}, looked_at = {around, around / "nvidia"};
    std::error_code trouble;
    for (const auto& part : fs::directory_iterator(around / "nvidia", trouble))
        folders.push_back(part.path() / "lib");
    for (const fs::path& one : folders) {
        looked_at.push_back(one);
        for (const auto& entry : fs::directory_iterator(one, trouble))
            if (entry.path().filename().string().find(".so") != std::string::npos)
                looked_at.push_back(entry.path());
    }
    for (const fs::path& one : looked_at)
        if (fs::exists(one, trouble))
            if (const std::string other = other_writer(one); !other.empty())
                throw Error("LibTorch",
                            "takes libraries from " + one.string() + ", which " + other);
}

}

void open_libtorch_for(std::span<const std::byte> plugin) {
    const fs::path folder = folder_of_libraries();
    if (folder.empty()) return;
    for (const std::string& library : elf_needed(plugin, "the plugin")) {
        const fs::path path = folder / library;
        std::error_code trouble;
        if (!fs::exists(path, trouble) || is_open(library)) continue;
        require_own_libraries(folder);
        // Never closed: LibTorch has threads.
        if (!::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
            const char* const why = ::dlerror();
            throw Error("LibTorch", std::string("needs a library that cannot be loaded: ") +
                                        (why ? why : path.c_str()));
        }
    }
}

}
