#define BOOST_DLL_USE_STD_FS
#include "engine/base/shared_library.h"

#include "engine/base/error.h"

#include <boost/dll/shared_library.hpp>
#include <dlfcn.h>
#include <system_error>
#include <utility>

namespace nacelle {
namespace {

// The loader's own message names the missing dependency or symbol; Boost's error code does not.
std::string loader_reason(const std::filesystem::path& path) {
    const char* text = ::dlerror();
    std::string reason = text ? text : "the loader gives no reason";
    const std::string prefix = path.string() + ": ";
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    return reason;
}

}

SharedLibrary::SharedLibrary(const std::filesystem::path& path) {
    if (path.empty()) throw Error("shared library", "no path given");
    auto mode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local;
    // Without this Boost looks for a bare name in the current directory.
    if (!path.has_parent_path()) mode |= boost::dll::load_mode::search_system_folders;

    std::error_code failed;
    auto library = std::make_shared<boost::dll::shared_library>();
    ::dlerror();
    library->load(path, mode, failed);
    if (!library->is_loaded()) {
        throw Error(path.string(), "cannot be loaded: " + loader_reason(path));
    }
    library_ = std::move(library);
}

void* SharedLibrary::find(const std::string& symbol) const {
    const auto& library = *static_cast<const boost::dll::shared_library*>(library_.get());
    if (!library.has(symbol)) return nullptr;
    return &library.get<unsigned char>(symbol);
}

}
