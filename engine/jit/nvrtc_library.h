#pragma once
#include "engine/base/shared_library.h"

#include <filesystem>
#include <string>
#include <vector>

#include <nvrtc.h>

namespace nacelle {

// An open libnvrtc that can compile for one architecture, and its build.
class NvrtcLibrary final {
public:
    // Opens the first place that has one; throws with all places where none has.
    NvrtcLibrary(const std::vector<std::filesystem::path>& places, const std::string& architecture);

    decltype(&::nvrtcGetErrorString) error_string = nullptr;
    decltype(&::nvrtcCreateProgram) create_program = nullptr;
    decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
    decltype(&::nvrtcCompileProgram) compile_program = nullptr;
    decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
    decltype(&::nvrtcGetCUBIN) cubin = nullptr;
    decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
    decltype(&::nvrtcGetProgramLog) log = nullptr;
    decltype(&::nvrtcSetFlowCallback) set_flow_callback = nullptr;    // null in old ones

    // Since 12.9 NVRTC has a cache of its own, which starts the CUDA driver in every process that compiles.
    bool has_cache() const { return has_cache_; }
    const std::string& build() const { return build_; }    // version, size and time of the file

private:
    // Returns an empty text, or why this library cannot be used.
    std::string load(const std::filesystem::path& place, const std::string& architecture);

    std::vector<SharedLibrary> library_;
    std::string build_;
    bool has_cache_ = false;
};

// The places to search: what the build found, the names of the loader, CUDA_HOME and the like.
std::vector<std::filesystem::path> nvrtc_places();

}
