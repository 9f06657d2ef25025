#include "engine/device/cuda/driver.h"

#include "engine/base/error.h"

namespace nacelle {
namespace {

constexpr int oldest_version = 12000;

SharedLibrary open_library(const std::string& library) {
    try {
        return SharedLibrary(library);
    } catch (const Error& error) {
        // The loader gives the same error for a library that the driver needs, and names that one.
        const std::string& reason = error.reason();
        const size_t missing = reason.find("cannot open shared object file");
        if (missing != std::string::npos && reason.find(".so") > missing) {
            throw Error("cuda", library + " was not found", "is an NVIDIA driver installed?");
        }
        throw Error("cuda", library + " could not be opened: " + reason);
    }
}

// After one of these every later call fails as well, until the process ends.
bool loses_context(CUresult result) {
    switch (static_cast<int>(result)) {
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
        case CUDA_ERROR_MPS_CLIENT_TERMINATED:
        // Newer than the headers of CUDA 12.0: CUDA_ERROR_CONTAINED, CUDA_ERROR_TENSOR_MEMORY_LEAK.
        case 226:
        case 721: return true;
        default: return false;
    }
}

}

Driver::Driver(const std::string& library, const std::function<void()>& starting)
    : library_(open_library(library)) {
    auto* get_version = library_.function<CUresult(int*)>("cuDriverGetVersion");
    if (!get_version || get_version(&version_) != CUDA_SUCCESS) {
        throw Error("cuda", library + " is not a working CUDA driver");
    }
    // The version comes first: an old driver lacks some of the symbols.
    if (version_ < oldest_version) {
        throw Error("cuda",
                    "the NVIDIA driver speaks CUDA " + cuda_version_text(version_) + ", " +
                        cuda_version_text(oldest_version) + " or newer is needed",
                    "update the driver");
    }
#define NACELLE_CUDA_FIND(name, symbol, ...) name = library_.function<__VA_ARGS__>(symbol);
#define NACELLE_CUDA_REQUIRE(name, symbol, ...)                                                    \
    NACELLE_CUDA_FIND(name, symbol, __VA_ARGS__)                                                   \
    if (!name) throw Error("cuda", library + " has no function " symbol);
    NACELLE_CUDA_CALLS(NACELLE_CUDA_REQUIRE)
    NACELLE_CUDA_NEWER_CALLS(NACELLE_CUDA_FIND)
#undef NACELLE_CUDA_REQUIRE
#undef NACELLE_CUDA_FIND

    if (starting) starting();
    const CUresult result = initialize(0);
    if (result == CUDA_ERROR_NO_DEVICE) {
        throw Error("cuda", "the NVIDIA driver finds no GPU",
                    "CUDA_VISIBLE_DEVICES hides those that it does not list");
    }
    check(result, "start the CUDA driver");
}

void Driver::fail(CUresult result, const std::string& purpose) const {
    const char* name = nullptr;
    const char* text = nullptr;
    error_name(result, &name);
    error_text(result, &text);
    std::string reason = "could not " + purpose + ": ";
    reason += name ? name : "CUDA error " + std::to_string(static_cast<int>(result));
    if (text) reason += std::string(" (") + text + ")";
    if (loses_context(result)) {
        throw Error("cuda", reason + "; the device context is lost",
                    "the process must be restarted");
    }
    throw Error("cuda", reason);
}

std::string cuda_version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}
