#include "engine/device/cuda/cuda_stream.h"

#include "engine/device/cpu/cpu_device.h"
#include "tests/device/fake_cuda_session.h"
#include "tests/device/support.h"

#include <cstring>
#include <doctest/doctest.h>
#include <vector>

using namespace nacelle;

namespace {

struct Sixteen {
    uint64_t first = 1;
    uint64_t second = 2;
};

struct Opened {
    FakeCudaSession session;
    std::shared_ptr<Device> device = session.open();
    std::unique_ptr<Module> module = device->load(bytes_of(std::string("fake")));
    std::unique_ptr<Stream> stream = device->stream();
    FakeCuda& cuda = session.cuda;
};

}

TEST_CASE("a launch hands shape and arguments to the driver") {
    Opened gpu;
    LaunchShape shape{.items = 1000, .threads = 64, .items_per_block = 256, .shared_bytes = 51200};
    const Sixteen args{7, 9};
    gpu.stream->launch(gpu.module->kernel("sixteen"), shape, bytes_of(args));
    gpu.stream->launch(gpu.module->kernel("nothing"), shape, {});
    shape.items = 0;
    gpu.stream->launch(gpu.module->kernel("nothing"), shape, {});

    REQUIRE(gpu.cuda.launches.size() == 2);
    const FakeCuda::Launch& plain = gpu.cuda.launches[0];
    CHECK(plain.kernel == "sixteen");
    CHECK(plain.grid == 4);
    CHECK(plain.threads == 64);
    CHECK(plain.shared_bytes == 51200);
    REQUIRE(plain.args.size() == 16);
    CHECK(std::memcmp(plain.args.data(), &args, 16) == 0);
    CHECK(!gpu.cuda.launches[1].has_args);
}

TEST_CASE("a stream of the application's is worked on and left alone") {
    Opened gpu;
    const int streams = gpu.cuda.streams;
    gpu.device->stream_of(gpu.stream->native())
        ->launch(gpu.module->kernel("nothing"), {.items = 1}, {});
    CHECK(gpu.cuda.launches.size() == 1);
    CHECK(gpu.cuda.streams == streams);
    gpu.stream->synchronize();
}

TEST_CASE("a stream waits for one of the application's, or lets it wait, by one event") {
    Opened gpu;
    const auto own = static_cast<CUstream>(gpu.stream->native());
    const CUstream legacy = nullptr;
    gpu.stream->wait_for(nullptr);
    gpu.stream->make_wait(nullptr);
    gpu.stream->wait_for(own);    // in order as it is
    CHECK(gpu.cuda.recorded == std::vector<CUstream>{legacy, own});
    CHECK(gpu.cuda.waiting == std::vector<CUstream>{own, legacy});
    CHECK(gpu.cuda.events == 1);
    gpu.stream.reset();
    CHECK(gpu.cuda.events == 0);
}

TEST_CASE("a device knows the memory that its kernels reach") {
    Opened gpu;
    const Buffer buffer(gpu.device, 16);
    CHECK(gpu.device->reaches(buffer.data()));
    CHECK(!gpu.device->reaches(&gpu));
    CHECK(!gpu.device->reaches(nullptr));
    CHECK(CpuDevice(1).reaches(&gpu));
    CHECK(!CpuDevice(1).reaches(nullptr));
}

TEST_CASE("a launch that cannot work is refused in words") {
    Opened gpu;
    const Kernel kernel = gpu.module->kernel("sixteen");
    const Sixteen args;
    const auto refused = [&](LaunchShape shape, std::span<const std::byte> bytes) {
        return complaint([&] { gpu.stream->launch(kernel, shape, bytes); });
    };
    CHECK(refused({.items = uint64_t{1} << 31, .items_per_block = 1}, bytes_of(args)) ==
          "sixteen: a launch of 2147483648 blocks (a GPU takes 2147483647 at most)");
    CHECK(refused({.items = 1, .threads = 0}, bytes_of(args)) ==
          "sixteen: a launch with 0 threads a block (this kernel takes 1 to 512)");
    CHECK(refused({.items = 1, .threads = 1024}, bytes_of(args)) ==
          "sixteen: a launch with 1024 threads a block (this kernel takes 1 to 512)");
    CHECK(refused({.items = 1, .shared_bytes = 100 * 1024}, bytes_of(args)) ==
          "sixteen: a block needs 101.0 KiB of shared memory (this GPU has 100.0 KiB)");
    CHECK(refused({.items = 1}, bytes_of(args.first)) ==
          "sixteen: it was given 8 bytes of arguments and takes 16");
    CHECK(refused({.items = 1}, {}) == "sixteen: it was given 0 bytes of arguments and takes 16");
    CHECK(contains(refused({.items = 1, .items_per_block = 0}, bytes_of(args)),
                   "items_per_block of its launch is 0"));
    CHECK(gpu.cuda.launches.empty());
}

TEST_CASE("a launch that the driver refuses says what it asked for") {
    Opened gpu;
    gpu.cuda.at_launch = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const std::string text =
        complaint([&] { gpu.stream->launch(gpu.module->kernel("nothing"), {.items = 300}, {}); });
    CHECK(contains(text, "could not launch the kernel 'nothing' with 3 blocks of 128 threads"));
    CHECK(contains(text, "40 registers a thread"));
    CHECK(contains(text, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (the driver's own words)"));
}

TEST_CASE("a device that was lost says so at every call") {
    Opened gpu;
    const Buffer buffer(gpu.device, 4);
    gpu.cuda.at_synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
    const std::string text = complaint([&] { gpu.stream->synchronize(); });
    CHECK(contains(text, "could not finish the work on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(contains(text, "the device context is lost (the process must be restarted)"));
    CHECK(contains(complaint([&] { gpu.stream->fill(buffer.data(), 0, 4); }), "context is lost"));
    CHECK(contains(complaint([&] { gpu.device->allocate(4); }), "context is lost"));
    CHECK(contains(complaint([&] { gpu.stream->time([] {}); }), "context is lost"));
    gpu.cuda.lost = gpu.cuda.at_synchronize = CUDA_SUCCESS;    // so that the fake frees its memory
}

TEST_CASE("bytes go to a GPU, around on it and back") {
    Opened gpu;
    const Buffer first(gpu.device, 8), second(gpu.device, 8);
    const uint32_t sent[2] = {3, 4};
    uint32_t got[2] = {};
    gpu.stream->to_device(first.data(), sent, 8);
    gpu.stream->fill(second.data(), 0xff, 8);
    gpu.stream->copy(second.data(), first.data(), 4);
    gpu.stream->to_host(got, second.data(), 8);
    gpu.stream->synchronize();
    CHECK(got[0] == 3);
    CHECK(got[1] == 0xffffffff);
    gpu.stream->to_host(nullptr, nullptr, 0);
    gpu.stream->copy(nullptr, nullptr, 0);
    CHECK(gpu.stream->native() != nullptr);
    CHECK(gpu.stream->time([] {}) == doctest::Approx(1.5));
    CHECK(gpu.cuda.events == 0);
}

TEST_CASE("a graph of a GPU runs what was captured, with the arguments of the capture") {
    Opened gpu;
    Sixteen args{5, 6};
    gpu.stream->begin_capture();
    gpu.stream->launch(gpu.module->kernel("sixteen"), {.items = 1}, bytes_of(args));
    const auto graph = gpu.stream->end_capture();
    args.first = 50;
    CHECK(gpu.cuda.launches.empty());
    CHECK(gpu.cuda.graphs == 0);
    gpu.stream->replay(*graph);
    gpu.stream->replay(*graph);
    REQUIRE(gpu.cuda.launches.size() == 2);
    CHECK(gpu.cuda.launches[1].args[0] == std::byte{5});
}

TEST_CASE("a graph sends a kernel early behind a kernel, if it waits where it begins") {
    Opened gpu;
    const Kernel waits = gpu.module->kernel("sixteen"), plain = gpu.module->kernel("nothing");
    const Buffer buffer(gpu.device, 4);
    const Sixteen args;
    const auto launch = [&](const Kernel& kernel) {
        gpu.stream->launch(kernel, {.items = 1}, bytes_of(args));
    };
    launch(waits);
    launch(waits);
    gpu.stream->begin_capture();
    launch(waits);
    launch(waits);
    launch(plain);
    launch(waits);
    gpu.stream->fill(buffer.data(), 0, 4);
    launch(waits);
    launch(waits);
    gpu.stream->replay(*gpu.stream->end_capture());
    launch(waits);
    std::vector<bool> early;
    for (const FakeCuda::Launch& each : gpu.cuda.launches) early.push_back(each.early);
    CHECK((early == std::vector<bool>{false, false, false, true, false, true, false, true, false}));
}

TEST_CASE("a driver that is too old for early launches gets none") {
    FakeCudaSession session;
    session.cuda.version = 12030;
    const auto device = session.open();
    CHECK(!device->info().early_launch);
}

TEST_CASE("memory and modules may come and go while a graph is captured") {
    Opened gpu;
    gpu.stream->begin_capture();
    {
        const Buffer buffer(gpu.device, 100);
        CHECK(gpu.device->load(bytes_of(std::string("fake")))->kernel("nothing").registers == 40);
    }
    CHECK(gpu.cuda.allocations.empty());
    gpu.stream->end_capture();
}

TEST_CASE("what cannot be captured is refused and the capture goes on") {
    Opened gpu;
    const Buffer buffer(gpu.device, 4);
    uint32_t host = 0;
    gpu.stream->begin_capture();
    CHECK(complaint([&] { gpu.stream->to_device(buffer.data(), &host, 4); }) ==
          "stream: to_device with ordinary host memory cannot be captured in a graph (copy before "
          "or after the capture, or use pinned memory)");
    CHECK(contains(complaint([&] { gpu.stream->to_host(&host, buffer.data(), 4); }),
                   "to_host with ordinary host memory"));
    for (const auto& call : std::vector<std::function<void()>>{[&] { gpu.stream->begin_capture(); },
                                                               [&] { gpu.stream->synchronize(); },
                                                               [&] { gpu.stream->time([] {}); }}) {
        CHECK(contains(complaint(call), "was called while the stream is capturing"));
    }
    const auto graph = gpu.stream->end_capture();
    CHECK(contains(complaint([&] { gpu.stream->end_capture(); }), "end_capture without"));
}

TEST_CASE("a capture that failed leaves the stream usable, an abandoned one leaves nothing") {
    Opened gpu;
    gpu.cuda.at_capture_end = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    gpu.stream->begin_capture();
    CHECK(contains(complaint([&] { gpu.stream->end_capture(); }), "could not end the capture"));
    gpu.stream->synchronize();

    gpu.cuda.at_capture_end = CUDA_SUCCESS;
    gpu.device->stream()->begin_capture();
    CHECK(gpu.cuda.graphs == 0);
}

TEST_CASE("a graph of one kind of device does not run on another") {
    Opened gpu;
    CpuDevice cpu(1);
    const auto other = cpu.stream();
    other->begin_capture();
    const auto graph = other->end_capture();
    CHECK(contains(complaint([&] { gpu.stream->replay(*graph); }), "another kind of device"));
    gpu.stream->begin_capture();
    const auto ours = gpu.stream->end_capture();
    CHECK(contains(complaint([&] { other->replay(*ours); }), "another kind of device"));
}
