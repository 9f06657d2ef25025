#pragma once
#include "engine/base/shared_library.h"
#include "engine/device/cuda/calls.h"

#include <functional>
#include <string>
#include <type_traits>

namespace nacelle {

// The CUDA driver, opened at run time: a machine without one runs everything on its CPU.
class Driver final {
public:
    // Opens and initialises the driver. Throws where it is missing, too old or finds no GPU. Calls `starting` before
    // it initialises, which takes a while.
    explicit Driver(const std::string& library, const std::function<void()>& starting = {});

#define NACELLE_CUDA_MEMBER(name, symbol, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
    NACELLE_CUDA_CALLS(NACELLE_CUDA_MEMBER)
    NACELLE_CUDA_NEWER_CALLS(NACELLE_CUDA_MEMBER)
#undef NACELLE_CUDA_MEMBER

    // 12040 for CUDA 12.4.
    int version() const { return version_; }

    // Throws where `result` is not success: "could not " and then `purpose`.
    void check(CUresult result, const char* purpose) const {
        if (result != CUDA_SUCCESS) fail(result, purpose);
    }
    [[noreturn]] void fail(CUresult result, const std::string& purpose) const;

private:
    SharedLibrary library_;
    int version_ = 0;
};

// "12.4" for 12040.
std::string cuda_version_text(int version);

}
