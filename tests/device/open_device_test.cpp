#include "engine/device/choose.h"
#include "tests/device/fake_cuda_session.h"
#include "tests/device/support.h"

#include <doctest/doctest.h>

using namespace nacelle;

TEST_CASE("the CPU is opened when it is asked for") {
    const DeviceChoice choice = open_device("cpu", 2);
    CHECK(choice.device->info().backend == Backend::cpu);
    CHECK(choice.device->info().processors == 2);
    CHECK(choice.why == "the CPU was asked for");
}

TEST_CASE("an unknown backend is answered with those that there are") {
    const std::string text = complaint([] { open_device("gpu"); });
    CHECK(text == "backend: there is no backend 'gpu' (there is: auto, cuda, cpu)");
}

TEST_CASE("absurd numbers of threads are refused for every backend") {
    for (const char* backend : {"auto", "cuda", "cpu"}) {
        for (const int threads : {-1, 1025, 1 << 30}) {
            const std::string text = complaint([&] { open_device(backend, threads); });
            CHECK(contains(text, "threads: " + std::to_string(threads) + " worker threads"));
        }
    }
}

TEST_CASE("without a driver 'auto' takes the CPU and 'cuda' says why it cannot") {
    const DeviceChoice choice = choose_device("auto", 1, "libno_such_cuda.so.1");
    CHECK(choice.device->info().backend == Backend::cpu);
    CHECK(choice.why == "no GPU: libno_such_cuda.so.1 was not found");
    const std::string text = complaint([] { choose_device("cuda", 1, "libno_such_cuda.so.1"); });
    CHECK(contains(text, "libno_such_cuda.so.1 was not found"));
}

TEST_CASE("a library that is no CUDA driver is no reason to fail") {
    const DeviceChoice choice = choose_device("auto", 1, cpu_kernels);
    CHECK(contains(choice.why, "is not a working CUDA driver"));
}

TEST_CASE("'auto' takes a GPU that works and says its name") {
    FakeCudaSession session;
    const DeviceChoice choice = choose_device("auto", 1, fake_libcuda);
    CHECK(choice.device->info().backend == Backend::cuda);
    CHECK(choice.why == "Fake GPU");
}

TEST_CASE("a GPU that does not work is a reason for the CPU") {
    FakeCudaSession session;
    session.cuda.version = 11080;
    const DeviceChoice choice = choose_device("auto", 1, fake_libcuda);
    CHECK(choice.device->info().backend == Backend::cpu);
    CHECK(choice.why == "no GPU: the NVIDIA driver speaks CUDA 11.8, 12.0 or newer is needed");
}
