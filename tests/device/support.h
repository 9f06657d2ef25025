#pragma once
#include "engine/base/error.h"
#include "tests/support/folders.h"

#include <cstddef>
#include <span>
#include <string>

// What the build made for these tests.
inline const std::string fake_libcuda = nacelle::test::build_path("tests/device/libfake_cuda.so");
inline const std::string cpu_kernels = nacelle::test::build_path("tests/device/libcpu_kernels.so");

// The bytes of a struct, for a kernel's arguments.
template <class Args> std::span<const std::byte> bytes_of(const Args& args) {
    return std::as_bytes(std::span(&args, 1));
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

// What the engine says when `work` fails, or an empty text where it does not.
template <class Work> std::string complaint(Work work) {
    try {
        work();
    } catch (const nacelle::Error& error) {
        return error.what();
    }
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
