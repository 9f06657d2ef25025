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

void require_own(const fs::path& path) {
    std::error_code trouble;
    if (!fs::exists(path, trouble)) return;
    if (const std::string other = other_writer(path); !other.empty())
        throw Error("LibTorch", "takes libraries from " + path.string() + ", which " + other);
}
void require_own_libraries(const fs::path& folder) {
    require_own(folder);
    std::error_code trouble;
    for (const auto& entry : fs::directory_iterator(folder, trouble))
        if (entry.path().filename().string().find(".so") != std::string::npos)
            require_own(entry.path());
}
// LibTorch's run paths lead to its own folder and to NVIDIA's folders, which lie beside the folder `torch`. LibTorch is refused
// if other users can write or add a library there.
void require_own_libtorch(const fs::path& folder) {
    const fs::path around = folder.parent_path().parent_path(), nvidia = around / "nvidia";
    require_own(around);
    require_own(nvidia);
    require_own_libraries(folder);
    std::error_code trouble;
    for (const auto& part : fs::directory_iterator(nvidia, trouble))
        require_own_libraries(part.path() / "lib");
}

}

void open_libtorch_for(std::span<const std::byte> plugin) {
    const fs::path folder = folder_of_libraries();
    if (folder.empty()) return;
    bool looked_at = false;
    for (const std::string& library : elf_needed(plugin, "the plugin")) {
        const fs::path path = folder / library;
        std::error_code trouble;
        if (!fs::exists(path, trouble) || is_open(library)) continue;
        if (!looked_at) require_own_libtorch(folder);
        looked_at = true;
        // Never closed: LibTorch has threads.
        if (!::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
            const char* const why = ::dlerror();
            throw Error("LibTorch", std::string("needs a library that cannot be loaded: ") +
                                        (why ? why : path.c_str()));
        }
    }
}

}
