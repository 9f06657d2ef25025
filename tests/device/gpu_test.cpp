#include "engine/device/device.h"
#include "tests/device/gpu_kernels.h"
#include "tests/device/support.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace nacelle;

// These run on a real GPU or are skipped.

namespace {

struct WriteArgs {
    void* out;
    uint32_t value;
    uint32_t count;
};

struct Gpu {
    explicit Gpu(std::shared_ptr<Device> opened)
        : device(std::move(opened)),
          module(device->load(std::as_bytes(std::span(gpu_kernels)))),
          stream(device->stream()) {}

    std::vector<uint32_t> read(const Buffer& buffer) {
        std::vector<uint32_t> values(buffer.bytes() / sizeof(uint32_t));
        stream->to_host(values.data(), buffer.data(), buffer.bytes());
        stream->synchronize();
        return values;
    }

    std::shared_ptr<Device> device;
    std::unique_ptr<Module> module;
    std::unique_ptr<Stream> stream;
};

bool all_are(const std::vector<uint32_t>& values, uint32_t expected) {
    return std::all_of(values.begin(), values.end(),
                       [=](uint32_t value) { return value == expected; });
}

}

#define OPEN_GPU_OR_SKIP(gpu)                                                                      \
    const DeviceChoice choice = open_device("auto", 1);                                            \
    if (choice.device->info().backend != Backend::cuda) NACELLE_SKIP(choice.why);                  \
    Gpu gpu(choice.device)

TEST_CASE("GPU: the device describes itself" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const DeviceInfo& info = gpu.device->info();
    CHECK(choice.why == info.name);
    CHECK(info.architecture.starts_with("sm_"));
    CHECK(info.driver.starts_with("CUDA driver "));
    CHECK(info.memory_bytes >= gpu.device->memory_free());
    CHECK(info.processors > 0);
    CHECK(info.shared_bytes >= 48 * 1024);
    MESSAGE(info.name, ", ", info.architecture, ", ", info.driver);
}

TEST_CASE("GPU: new memory is zero and aligned, and bytes travel" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Buffer buffer(gpu.device, 1 << 20);
    const Buffer target(gpu.device, 1 << 20);
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % 256 == 0);
    CHECK(all_are(gpu.read(buffer), 0));
    gpu.stream->fill(buffer.data(), 0x11, buffer.bytes());
    const uint32_t seven = 7;
    gpu.stream->to_device(buffer.data(), &seven, sizeof seven);
    gpu.stream->copy(target.data(), buffer.data(), buffer.bytes());
    std::vector<uint32_t> got = gpu.read(target);
    CHECK(got[0] == 7);
    got[0] = 0x11111111;
    CHECK(all_are(got, 0x11111111));
}

TEST_CASE("GPU: more memory than there is is refused with what there is" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const std::string text = complaint([&] { gpu.device->allocate(size_t{1} << 50); });
    CHECK(contains(text, "out of memory: 1.0 PiB wanted"));
    CHECK(contains(text, " free"));
}

TEST_CASE("GPU: a kernel runs over every item and says what it costs" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Kernel kernel = gpu.module->kernel("write_value");
    CHECK(kernel.registers > 0);
    CHECK(kernel.max_threads >= 128);
    CHECK((kernel.args_bytes == sizeof(WriteArgs) || kernel.args_bytes == 0));
    const Buffer buffer(gpu.device, 4 * 1001);
    const WriteArgs args{buffer.data(), 42, 1000};
    gpu.stream->fill(buffer.data(), 0, buffer.bytes());
    gpu.stream->launch(kernel, {.items = 1000}, bytes_of(args));
    std::vector<uint32_t> got = gpu.read(buffer);
    CHECK(got.back() == 0);
    got.pop_back();
    CHECK(all_are(got, 42));
}

TEST_CASE("GPU: arguments that are too short are refused" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Kernel kernel = gpu.module->kernel("write_value");
    if (kernel.args_bytes == 0) NACELLE_SKIP("this driver does not tell the size of parameters");
    CHECK(contains(complaint([&] { gpu.stream->launch(kernel, {.items = 1}, {}); }),
                   "it was given 0 bytes of arguments and takes 16"));
}

TEST_CASE("GPU: a graph runs again and again with the arguments of its capture" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Kernel kernel = gpu.module->kernel("write_value");
    const Buffer buffer(gpu.device, 4000), copy(gpu.device, 4000);
    WriteArgs args{buffer.data(), 9, 1000};
    uint32_t host = 0;
    gpu.stream->begin_capture();
    gpu.stream->launch(kernel, {.items = 1000}, bytes_of(args));
    gpu.stream->copy(copy.data(), buffer.data(), 4000);
    gpu.stream->fill(buffer.data(), 0, 4000);
    CHECK(contains(complaint([&] { gpu.stream->to_host(&host, copy.data(), 4); }),
                   "ordinary host memory cannot be captured"));
    {
        const Buffer during(gpu.device, 1 << 16);
        const auto module = gpu.device->load(std::as_bytes(std::span(gpu_kernels)));
        CHECK(module->kernel("write_value").registers > 0);
    }
    args.value = 10;
    const auto graph = gpu.stream->end_capture();
    CHECK(all_are(gpu.read(copy), 0));
    for (int trial = 0; trial < 3; ++trial) {
        gpu.stream->fill(copy.data(), 0, 4000);
        gpu.stream->replay(*graph);
        CHECK(all_are(gpu.read(copy), 9));
        CHECK(all_are(gpu.read(buffer), 0));
    }
}

TEST_CASE("GPU: another thread allocates while this one captures" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    gpu.stream->begin_capture();
    std::string text = "did not run";
    std::thread([&] { text = complaint([&] { Buffer(gpu.device, 4096); }); }).join();
    CHECK(text == "");
    const auto graph = gpu.stream->end_capture();
    gpu.stream->replay(*graph);
    gpu.stream->synchronize();
}

TEST_CASE("GPU: a block may use all the shared memory that there is" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Kernel kernel = gpu.module->kernel("last_shared_word");
    const auto all = static_cast<uint32_t>(gpu.device->info().shared_bytes);
    const Buffer buffer(gpu.device, 4);
    const WriteArgs args{buffer.data(), 77, all - 4};
    LaunchShape shape{.items = 1, .threads = 1, .items_per_block = 1, .shared_bytes = all};
    gpu.stream->launch(kernel, shape, bytes_of(args));
    CHECK(gpu.read(buffer)[0] == 77);
    shape.shared_bytes += 1;
    CHECK(contains(complaint([&] { gpu.stream->launch(kernel, shape, bytes_of(args)); }),
                   "of shared memory (this GPU has"));
}

TEST_CASE("GPU: work takes time" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Buffer buffer(gpu.device, 64 << 20);
    CHECK(gpu.stream->time([&] { gpu.stream->fill(buffer.data(), 1, buffer.bytes()); }) > 0);
}

TEST_CASE("GPU: symbols, missing kernels and bad binaries" * test::on_gpu()) {
    OPEN_GPU_OR_SKIP(gpu);
    const Symbol symbol = gpu.module->symbol("numbers");
    CHECK(symbol.address != nullptr);
    CHECK(symbol.bytes == 12);
    CHECK(gpu.module->symbol("fly").address == nullptr);
    CHECK(contains(complaint([&] { gpu.module->kernel("fly"); }), "has no kernel 'fly'"));
    CHECK(contains(complaint([&] { gpu.device->load(bytes_of(std::string("nonsense\0", 9))); }),
                   "could not load a module"));
}
