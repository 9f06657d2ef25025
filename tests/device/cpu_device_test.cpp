#include "engine/device/cpu/cpu_device.h"

#include "tests/device/support.h"

#include <cfenv>
#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <thread>
#include <vector>

using namespace nacelle;

namespace {

struct ValueArgs {
    float* out;
    float value;
};

LaunchShape blocks_of_one(uint64_t blocks) {
    LaunchShape shape;
    shape.items = blocks;
    shape.items_per_block = 1;
    return shape;
}

std::unique_ptr<Module> load_kernels(Device& device) { return device.load(bytes_of(cpu_kernels)); }

}

TEST_CASE("the CPU says what it is") {
    CpuDevice device(3);
    CHECK(device.info().backend == Backend::cpu);
    CHECK(!device.info().name.empty());
    CHECK(device.info().architecture.empty());
    CHECK(device.info().processors == 3);
    CHECK(device.info().memory_bytes > device.memory_free());
    CHECK(device.memory_free() > 0);
    CHECK(CpuDevice(0).info().processors >= 1);
}

TEST_CASE("memory of the CPU is zero and aligned to 256 bytes") {
    CpuDevice device(1);
    for (const size_t bytes : {1u, 255u, 4096u, 1000003u}) {
        void* memory = device.allocate(bytes);
        CHECK(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
        const std::vector<char> zero(bytes, 0);
        CHECK(std::memcmp(memory, zero.data(), bytes) == 0);
        device.release(memory);
    }
    CHECK(device.allocate(0) == nullptr);
    device.release(nullptr);
}

TEST_CASE("more memory than there is is refused with what there is") {
    CpuDevice device(1);
    const std::string text = complaint([&] { device.allocate(size_t{1} << 60); });
    CHECK(contains(text, "out of memory: 1.0 EiB wanted"));
    CHECK(contains(text, " free"));
    CHECK(contains(text, device.info().name));
}

TEST_CASE("a launch on the CPU runs every block once for random shapes") {
    struct {
        uint32_t* visits;
    } args;
    std::mt19937 random(2);
    for (int threads = 1; threads <= 7; ++threads) {
        CpuDevice device(threads);
        const auto module = load_kernels(device);
        const Kernel kernel = module->kernel("count_visits");
        const auto stream = device.stream();
        for (int trial = 0; trial < 50; ++trial) {
            LaunchShape shape;
            shape.items = random() % 3000;
            shape.items_per_block = static_cast<uint32_t>(1 + random() % 130);
            std::vector<uint32_t> visits(shape.blocks() + 1, 0);
            args.visits = visits.data();
            stream->launch(kernel, shape, bytes_of(args));
            std::vector<uint32_t> once(shape.blocks() + 1, 1);
            once.back() = 0;
            REQUIRE(visits == once);
        }
    }
}

TEST_CASE("captured calls run at each replay and not before, with the arguments of the capture") {
    CpuDevice device(2);
    const auto module = load_kernels(device);
    const auto stream = device.stream();
    std::vector<float> out(10, 0), copy(10, 0);
    ValueArgs args{out.data(), 2.5f};

    stream->begin_capture();
    stream->launch(module->kernel("write_value"), blocks_of_one(10), bytes_of(args));
    stream->copy(copy.data(), out.data(), 5 * sizeof(float));
    stream->fill(out.data(), 0, sizeof(float));
    args.value = -1;
    const auto graph = stream->end_capture();
    CHECK(out[9] == 0);

    for (int trial = 0; trial < 2; ++trial) {
        out.assign(10, 7);
        copy.assign(10, 0);
        stream->replay(*graph);
        CHECK(out[0] == 0);
        CHECK(out[9] == 2.5f);
        CHECK(copy[4] == 2.5f);
        CHECK(copy[5] == 0);
    }
}

TEST_CASE("a capture keeps large arguments too, and an abandoned one runs nothing") {
    CpuDevice device(1);
    const auto module = load_kernels(device);
    std::vector<float> out(4, 0);
    struct {
        ValueArgs first;
        char rest[2000] = {};
    } args{{out.data(), 3}, {}};
    const auto stream = device.stream();
    stream->begin_capture();
    stream->launch(module->kernel("write_value"), blocks_of_one(4), bytes_of(args));
    const auto graph = stream->end_capture();
    args.first.value = 4;
    device.stream()->replay(*graph);
    CHECK(out[3] == 3);

    {
        const auto abandoned = device.stream();
        abandoned->begin_capture();
        abandoned->fill(out.data(), 0xff, 4);
    }
    CHECK(out[0] == 3);
}

TEST_CASE("a kernel's arguments are aligned wherever they come from") {
    CpuDevice device(1);
    const auto module = load_kernels(device);
    const Kernel kernel = module->kernel("alignment");
    const auto stream = device.stream();
    alignas(16) std::byte storage[64] = {};
    for (size_t offset = 0; offset < 16; ++offset) {
        uint64_t remainder = 1;
        const uint64_t* target = &remainder;
        std::memcpy(storage + offset, &target, sizeof target);
        stream->launch(kernel, blocks_of_one(1), {storage + offset, sizeof target});
        CHECK(remainder == 0);
    }
}

TEST_CASE("results do not depend on threads, nor on what the caller did to its rounding") {
    std::vector<float> expected(1000), out(1000);
    CpuDevice one(1);
    const auto module = load_kernels(one);
    const Kernel kernel = module->kernel("tiny_numbers");
    const ValueArgs first{expected.data(), 1e-18f};
    one.stream()->launch(kernel, blocks_of_one(1000), bytes_of(first));
    CHECK(expected[999] > 0);

    const ValueArgs args{out.data(), 1e-18f};
    const int rounding = std::fegetround();
    for (int threads = 1; threads <= 7; ++threads) {
        CpuDevice device(threads);
        std::fesetround(FE_UPWARD);
        device.stream()->launch(kernel, blocks_of_one(1000), bytes_of(args));
        CHECK(std::fegetround() == FE_UPWARD);
        std::fesetround(rounding);
        CHECK(std::memcmp(out.data(), expected.data(), 4000) == 0);
    }
}

TEST_CASE("an exception of a kernel becomes an error with the kernel's name") {
    CpuDevice device(3);
    const auto module = load_kernels(device);
    const auto stream = device.stream();
    const std::string text =
        complaint([&] { stream->launch(module->kernel("throw_at_five"), blocks_of_one(9), {}); });
    CHECK(text == "throw_at_five: the kernel threw: no fifth fish");
}

TEST_CASE("a missing shared object, kernel or symbol is named") {
    CpuDevice device(1);
    CHECK(contains(complaint([&] { device.load(bytes_of(std::string("/no/such.so"))); }),
                   "/no/such.so: there is no such shared object"));
    CHECK(complaint([&] { device.load(bytes_of(std::string("/proc/self/maps"))); }) != "");

    const auto module = load_kernels(device);
    CHECK(contains(complaint([&] { module->kernel("fly"); }), "it has no kernel 'fly'"));
    CHECK(module->symbol("fly").address == nullptr);
    CHECK(*static_cast<int32_t*>(module->symbol("a_number").address) == 7);
}

TEST_CASE("calls that make no sense are refused on the CPU as on a GPU") {
    CpuDevice device(1);
    const auto module = load_kernels(device);
    const auto stream = device.stream();
    LaunchShape shape;
    shape.items_per_block = 0;
    CHECK(contains(complaint([&] { stream->launch(module->kernel("alignment"), shape, {}); }),
                   "items_per_block of its launch is 0"));
    CHECK(contains(complaint([&] { stream->launch(Kernel{}, blocks_of_one(1), {}); }),
                   "never looked up"));
    stream->launch(module->kernel("alignment"), blocks_of_one(0), {});

    CHECK(contains(complaint([&] { stream->end_capture(); }), "end_capture without"));
    stream->begin_capture();
    CHECK(contains(complaint([&] { stream->begin_capture(); }), "while the stream is capturing"));
    CHECK(contains(complaint([&] { stream->synchronize(); }), "while the stream is capturing"));
    CHECK(contains(complaint([&] { stream->time([] {}); }), "while the stream is capturing"));
    const auto graph = stream->end_capture();
    stream->replay(*graph);
    stream->synchronize();
}

TEST_CASE("the CPU's clock measures the work") {
    CpuDevice device(1);
    const auto stream = device.stream();
    const double milliseconds =
        stream->time([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    CHECK(milliseconds >= 5);
    CHECK(stream->native() == nullptr);
}

TEST_CASE("another process opens memory that a CPU shares, and a handle of none says so") {
    CpuDevice device(1);
    std::string handle;
    const auto own = device.share(5000, handle);
    auto* const numbers = static_cast<int32_t*>(own->data());
    CHECK(numbers[1249] == 0);
    {
        const auto opened = device.open_shared(handle);
        CHECK(opened->data() != own->data());
        static_cast<int32_t*>(opened->data())[1249] = 7;
    }
    CHECK(numbers[1249] == 7);
    const std::string its_namespace = handle.substr(handle.rfind(' '));
    CHECK(contains(complaint([&] { device.open_shared("/proc/self/fd/99999 8" + its_namespace); }),
                   "/proc/self/fd/99999: cannot be opened"));
}
