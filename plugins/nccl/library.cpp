#include "plugins/nccl/library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace nccl {
namespace {

constexpr const char* advice =
    "'tools/nacelle nccl' installs NCCL of PyPI's wheel, and NACELLE_NCCL may name libnccl.so.2";

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

// 'tools/nacelle nccl' puts NCCL below this user's folder of data. With `sudo` the folder may belong to another user.
std::string installed() {
    const std::string own = variable("XDG_DATA_HOME"),
                      data = own.empty() ? variable("HOME") + "/.local/share" : own;
    std::string file = data + "/nacelle/nccl/nvidia/nccl/lib/libnccl.so.2";
    constexpr int levels = 7;    // up to the folder of data
    std::filesystem::path part = file;
    for (int level = 0; level < levels; ++level, part = part.parent_path()) {
        struct stat found {};
        if (::stat(part.c_str(), &found) != 0) continue;    // opening it says why
        if ((found.st_uid != ::geteuid() && found.st_uid != 0) || (found.st_mode & S_IWOTH) != 0)
            throw std::runtime_error(part.string() +
                                     " belongs to another user, or others can write "
                                     "it; NACELLE_NCCL may name libnccl.so.2");
    }
    return file;
}

}

Library::Library() {
    const std::string named = variable("NACELLE_NCCL");
    if (!named.empty()) {
        open(named);
        if (!library_)
            throw std::runtime_error("NACELLE_NCCL names " + named +
                                     ", which cannot be opened: " + dlerror());
    } else {
        open("libnccl.so.2");
        if (!library_) open(installed());
        if (!library_)
            throw std::runtime_error(std::string("libnccl.so.2 was not found; ") + advice);
    }
    find(version, "ncclGetVersion");
    find(unique_id, "ncclGetUniqueId");
    find(init_rank, "ncclCommInitRank");
    find(all_reduce, "ncclAllReduce");
    find(broadcast, "ncclBroadcast");
    find(destroy, "ncclCommDestroy");
    find(abort, "ncclCommAbort");
    find(async_error, "ncclCommGetAsyncError");
    find(error_text, "ncclGetErrorString");
    find(last_error, "ncclGetLastError");
}

void Library::open(const std::string& file) {
    library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    file_ = file;
}

template <class Function> void Library::find(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(dlsym(library_, symbol));
    if (!function) throw std::runtime_error(file_ + " has no function " + symbol + "; " + advice);
}

void Library::check(int result, const char* purpose) const {
    if (result == 0) return;
    const char* const more = last_error(nullptr);
    throw std::runtime_error(std::string("NCCL could not ") + purpose + ": " + error_text(result) +
                             (more && *more ? std::string(" (") + more + ")" : ""));
}

}
