#include "engine/device/cuda/cuda_device.h"

#include "tests/device/fake_cuda_session.h"
#include "tests/device/support.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <thread>

using namespace nacelle;

TEST_CASE("a GPU says what it is") {
    FakeCudaSession session;
    const auto device = session.open();
    const DeviceInfo& info = device->info();
    CHECK(info.backend == Backend::cuda);
    CHECK(info.name == "Fake GPU");
    CHECK(info.architecture == "sm_100");
    CHECK(info.driver.starts_with("CUDA driver 12.4"));
    CHECK(info.memory_bytes == size_t{1} << 30);
    CHECK(info.processors == 5);
    CHECK(info.shared_bytes == 100 * 1024);
}

TEST_CASE("memory of a GPU is zeroed, counted and given back") {
    FakeCudaSession session;
    const auto device = session.open();
    CHECK(device->allocate(0) == nullptr);
    device->release(nullptr);
    void* memory = device->allocate(1000);
    CHECK(device->memory_free() == (size_t{1} << 30) - 1000);
    const auto* bytes = static_cast<const unsigned char*>(memory);
    CHECK(std::all_of(bytes, bytes + 1000, [](unsigned char byte) { return byte == 0; }));
    device->release(memory);
    CHECK(session.cuda.allocations.empty());
}

TEST_CASE("a full GPU says how much was wanted and how much is free") {
    FakeCudaSession session;
    session.cuda.memory_total = 3 << 20;
    const auto device = session.open();
    const Buffer held(device, 1 << 20);
    CHECK(complaint([&] { Buffer(device, 5 << 20); }) ==
          "Fake GPU: out of memory: 5.0 MiB wanted, 2.0 MiB free");
}

TEST_CASE("memory that cannot be zeroed is not kept") {
    FakeCudaSession session;
    const auto device = session.open();
    session.cuda.at_zeroing = CUDA_ERROR_INVALID_VALUE;
    CHECK(contains(complaint([&] { device->allocate(8); }), "could not zero new memory"));
    CHECK(session.cuda.allocations.empty());
}

TEST_CASE("what a device made may outlive it and everything is given back") {
    FakeCudaSession session;
    {
        auto device = session.open();
        const auto module = device->load(bytes_of(std::string("fake")));
        const auto stream = device->stream();
        stream->begin_capture();
        const auto graph = stream->end_capture();
        CHECK(session.cuda.streams == 2);
        device.reset();
        CHECK(session.cuda.contexts == 1);
        stream->replay(*graph);
    }
    CHECK(session.cuda.contexts == 0);
    CHECK(session.cuda.streams == 0);
    CHECK(session.cuda.modules == 0);
    CHECK(session.cuda.graphs == 0);
    CHECK(session.cuda.executables == 0);
}

TEST_CASE("two devices live in one process and any thread may use them") {
    FakeCudaSession session;
    const auto first = session.open();
    const auto second = session.open();
    CHECK(session.cuda.contexts == 2);
    std::string text = "did not run";
    std::thread([&] {
        text = complaint([&] {
            const Buffer buffer(first, 64);
            second->stream()->fill(buffer.data(), 3, 64);
        });
    }).join();
    CHECK(text == "");
}

TEST_CASE("a kernel's costs are read and it may use all shared memory") {
    FakeCudaSession session;
    const auto device = session.open();
    const auto module = device->load(bytes_of(std::string("fake")));
    const Kernel kernel = module->kernel("sixteen");
    CHECK(kernel.name == "sixteen");
    CHECK(kernel.registers == 40);
    CHECK(kernel.local_bytes == 24);
    CHECK(kernel.shared_bytes == 1024);
    CHECK(kernel.max_threads == 512);
    CHECK(kernel.args_bytes == 16);
    CHECK(session.cuda.dynamic_shared["sixteen"] == 99 * 1024);
    CHECK(module->kernel("nothing").args_bytes == 0);
}

TEST_CASE("a missing kernel, a wrong kernel and a bad binary are refused") {
    FakeCudaSession session;
    const auto device = session.open();
    const auto module = device->load(bytes_of(std::string("fake")));
    CHECK(contains(complaint([&] { module->kernel("fly"); }), "the module has no kernel 'fly'"));
    CHECK(contains(complaint([&] { device->load(bytes_of(std::string("bad!"))); }),
                   "could not load a module on the GPU"));
    CHECK(contains(complaint([&] { device->load({}); }), "the binary to load is empty"));
    CHECK(session.cuda.modules == 1);
}

TEST_CASE("a symbol has an address and a size, a missing one neither") {
    FakeCudaSession session;
    const auto device = session.open();
    const auto module = device->load(bytes_of(std::string("fake")));
    CHECK(module->symbol("global").address != nullptr);
    CHECK(module->symbol("global").bytes == 12);
    CHECK(module->symbol("fly").address == nullptr);
    CHECK(module->symbol("fly").bytes == 0);
}

TEST_CASE("a GPU shares whole pages by a handle, and another process's is opened by one") {
    FakeCudaSession session;
    const auto device = session.open();
    std::string handle;
    {
        const auto own = device->share(100, handle);
        CHECK(device->memory_free() == (size_t{1} << 30) - (size_t{2} << 20));
        CHECK(device->open_shared(handle)->data() == own->data());
        const auto seen = device->visible_to_host(4);
        CHECK(*static_cast<uint32_t*>(seen->data()) == 0);
    }
    CHECK(session.cuda.allocations.empty());
    CHECK(contains(complaint([&] { device->open_shared(handle); }),
                   "could not reach memory of another process's GPU"));
    CHECK(
        contains(complaint([&] { device->open_shared("x"); }), "its handle is not one of CUDA's"));
}
