#include "engine/base/elf.h"
#include "engine/base/shared_library.h"
#include "tests/base/helpers.h"
#include "tests/support/skip.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace nacelle;

namespace {

const char* const source = R"(
struct Manifest { unsigned magic, size; float numbers[3]; char name[12]; };
extern "C" __device__ const Manifest manifest = {42, 32, {1.5f, 2.5f, 3.5f}, "CartPole"};
extern "C" __constant__ int in_constant_memory[2] = {7, 8};
__device__ int zeroes[16];
extern "C" __global__ void kernel(float* out) {
    out[threadIdx.x] = manifest.numbers[threadIdx.x] + zeroes[threadIdx.x] + in_constant_memory[0];
}
)";

std::optional<SharedLibrary> open_nvrtc() {
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
        try {
            return SharedLibrary(name);
        } catch (const Error&) {
            continue;
        }
    }
    return std::nullopt;
}

std::vector<std::byte> compile(const SharedLibrary& nvrtc) {
    using Program = void*;
    auto* create = nvrtc.function<int(Program*, const char*, const char*, int, const char* const*,
                                      const char* const*)>("nvrtcCreateProgram");
    auto* build = nvrtc.function<int(Program, int, const char* const*)>("nvrtcCompileProgram");
    auto* size_of = nvrtc.function<int(Program, size_t*)>("nvrtcGetCUBINSize");
    auto* take = nvrtc.function<int(Program, char*)>("nvrtcGetCUBIN");
    auto* destroy = nvrtc.function<int(Program*)>("nvrtcDestroyProgram");

    Program program = nullptr;
    const char* options[] = {"-arch=sm_90"};
    size_t size = 0;
    REQUIRE(create(&program, source, "manifest.cu", 0, nullptr, nullptr) == 0);
    REQUIRE(build(program, 1, options) == 0);
    REQUIRE(size_of(program, &size) == 0);
    std::vector<std::byte> cubin(size);
    REQUIRE(take(program, reinterpret_cast<char*>(cubin.data())) == 0);
    destroy(&program);
    return cubin;
}

}

TEST_CASE("a data symbol of a cubin is read with no GPU") {
    // Never closed: NVRTC leaves memory behind when it is, which a leak checker would report.
    static const auto* const nvrtc = new std::optional<SharedLibrary>(open_nvrtc());
    if (!*nvrtc) NACELLE_SKIP("no NVRTC here");
    const std::vector<std::byte> cubin = compile(**nvrtc);
    const auto manifest = elf_symbol(cubin, "manifest", "manifest.cubin");
    REQUIRE(manifest);
    REQUIRE(manifest->size() == 32);
    uint32_t magic = 0;
    float number = 0;
    std::memcpy(&magic, manifest->data(), sizeof(magic));
    std::memcpy(&number, manifest->data() + 16, sizeof(number));
    CHECK(magic == 42);
    CHECK(number == 3.5f);
    CHECK(std::strcmp(reinterpret_cast<const char*>(manifest->data() + 20), "CartPole") == 0);

    CHECK(elf_symbol(cubin, "in_constant_memory", "manifest.cubin")->size() == 8);
    CHECK_FALSE(elf_symbol(cubin, "zeroes", "manifest.cubin"));
    CHECK_FALSE(elf_symbol(cubin, "kernel", "manifest.cubin"));
}
