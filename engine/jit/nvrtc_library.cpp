#include "engine/jit/nvrtc_library.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <dlfcn.h>

#ifndef NACELLE_NVRTC_PATHS
#define NACELLE_NVRTC_PATHS ""
#endif

namespace nacelle {
namespace {

namespace fs = std::filesystem;

constexpr const char* names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

void add_directory(std::vector<fs::path>& places, const fs::path& directory) {
    for (const char* name : names) places.push_back(directory / name);
}

fs::path file_of(void* function) {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

// NVRTC leaks memory each time it is unloaded: once used it stays loaded.
void keep_open(const fs::path& file) {
    if (void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        ::dlclose(handle);
}

// NVRTC loads its library of built-in functions by a bare name. In a wheel that library lies beside it, where no
// loader searches; opening it first makes NVRTC find it.
void open_builtins(const fs::path& beside) {
    std::error_code trouble;
    for (const auto& entry : fs::directory_iterator(beside, trouble)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libnvrtc-builtins.so."))
            ::dlopen(entry.path().c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    }
}

// Updates of a toolkit keep the version number.
std::string stamp(const fs::path& file) {
    std::error_code trouble;
    const fs::path real = fs::canonical(file, trouble);
    if (trouble) return {};
    const auto bytes = fs::file_size(real, trouble);
    const auto time = fs::last_write_time(real, trouble).time_since_epoch().count();
    return trouble ? std::string{} : std::to_string(bytes) + "/" + std::to_string(time);
}

// 90 for "sm_90a".
int architecture_number(const std::string& architecture) {
    const size_t digits = architecture.find_first_of("0123456789");
    return digits == architecture.npos ? 0 : std::atoi(architecture.c_str() + digits);
}

}

std::vector<fs::path> nvrtc_places() {
    std::vector<fs::path> places;
    std::istringstream compiled_in(NACELLE_NVRTC_PATHS);
    for (std::string place; std::getline(compiled_in, place, ':');) {
        std::error_code trouble;
        if (place.empty()) continue;
        if (fs::is_directory(place, trouble)) add_directory(places, place);
        else places.emplace_back(place);
    }
    for (const char* name : names) places.emplace_back(name);
    std::vector<fs::path> roots;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(variable); root && root[0] == '/')
            roots.emplace_back(root);
    roots.emplace_back("/usr/local/cuda");
    roots.emplace_back("/opt/cuda");
    // A wheel of PyPI has "lib".
    for (const fs::path& root : roots)
        for (const char* const folder : {"lib64", "lib"}) add_directory(places, root / folder);
    return places;
}

NvrtcLibrary::NvrtcLibrary(const std::vector<fs::path>& places, const std::string& architecture) {
    std::string searched;
    std::string unfit;
    for (const fs::path& place : places) {
        std::error_code trouble;
        const bool absent = place.has_parent_path() && !fs::exists(place, trouble);
        const std::string why = absent ? "not there" : load(place, architecture);
        if (why.empty()) return;
        searched += (searched.empty() ? "" : ", ") + place.string();
        // The loader's "no such file" adds nothing to `searched`.
        if (!absent && !library_.empty())
            unfit += (unfit.empty() ? "" : "; ") + place.string() + " " + why;
        library_.clear();
    }
    throw Error("NVRTC", unfit.empty() ? "libnvrtc was not found" : unfit,
                "searched " + searched + "; install the CUDA toolkit's NVRTC, or set CUDA_HOME");
}

std::string NvrtcLibrary::load(const fs::path& place, const std::string& architecture) {
    if (place.has_parent_path()) open_builtins(place.parent_path());
    try {
        library_.emplace_back(place);
    } catch (const Error& error) {
        return error.reason();
    }
    const SharedLibrary& library = library_.back();
    bool complete = true;
    const auto take = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(library.find(name));
        complete = complete && function != nullptr;
    };
    decltype(&::nvrtcVersion) version = nullptr;
    decltype(&::nvrtcGetNumSupportedArchs) architecture_count = nullptr;
    decltype(&::nvrtcGetSupportedArchs) architectures = nullptr;
    take(version, "nvrtcVersion");
    take(architecture_count, "nvrtcGetNumSupportedArchs");
    take(architectures, "nvrtcGetSupportedArchs");
    take(error_string, "nvrtcGetErrorString");
    take(create_program, "nvrtcCreateProgram");
    take(destroy_program, "nvrtcDestroyProgram");
    take(compile_program, "nvrtcCompileProgram");
    take(cubin_size, "nvrtcGetCUBINSize");
    take(cubin, "nvrtcGetCUBIN");
    take(log_size, "nvrtcGetProgramLogSize");
    take(log, "nvrtcGetProgramLog");
    if (!complete) return "is too old";
    take(set_flow_callback, "nvrtcSetFlowCallback");

    int major = 0, minor = 0, count = 0;
    if (version(&major, &minor) != NVRTC_SUCCESS || architecture_count(&count) != NVRTC_SUCCESS)
        return "does not answer";
    std::vector<int> known(static_cast<size_t>(count));
    if (count > 0 && architectures(known.data()) != NVRTC_SUCCESS) return "does not answer";
    const std::string number = std::to_string(major) + "." + std::to_string(minor);
    if (std::find(known.begin(), known.end(), architecture_number(architecture)) == known.end())
        return "(NVRTC " + number + ") does not compile for " + architecture;
    const fs::path file = file_of(reinterpret_cast<void*>(compile_program));
    keep_open(file);
    has_cache_ = major > 12 || (major == 12 && minor >= 9);
    build_ = number + " " + stamp(file);
    return {};
}

}
