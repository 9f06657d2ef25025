#include "engine/device/cuda/driver.h"
#include "tests/device/fake_cuda_session.h"
#include "tests/device/support.h"

#include <doctest/doctest.h>

using namespace nacelle;

TEST_CASE("versions of CUDA are written as people write them") {
    CHECK(cuda_version_text(12000) == "12.0");
    CHECK(cuda_version_text(13010) == "13.1");
}

TEST_CASE("a driver older than CUDA 12 is refused before anything else is asked of it") {
    FakeCudaSession session;
    session.cuda.version = 11080;
    session.cuda.at_initialize = CUDA_ERROR_UNKNOWN;
    CHECK(complaint([&] { session.open(); }) ==
          "cuda: the NVIDIA driver speaks CUDA 11.8, 12.0 or newer is needed (update the driver)");
}

TEST_CASE("a driver without a GPU says so") {
    FakeCudaSession session;
    session.cuda.at_initialize = CUDA_ERROR_NO_DEVICE;
    CHECK(contains(complaint([&] { session.open(); }), "the NVIDIA driver finds no GPU"));
}

TEST_CASE("a driver that does not start says why") {
    FakeCudaSession session;
    session.cuda.at_initialize = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    CHECK(complaint([&] { session.open(); }) ==
          "cuda: could not start the CUDA driver: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (the driver's "
          "own words)");
}

TEST_CASE("an error that the driver has no name for keeps its number") {
    FakeCudaSession session;
    session.cuda.at_context = static_cast<CUresult>(1000);
    CHECK(contains(complaint([&] { session.open(); }),
                   "could not create a context on the GPU: CUDA error 1000"));
    CHECK(session.cuda.contexts == 0);
}

TEST_CASE("only errors that end the context ask for a restart") {
    FakeCudaSession session;
    const Driver driver(fake_libcuda);
    const std::string lost = complaint([&] { driver.check(CUDA_ERROR_LAUNCH_FAILED, "swim"); });
    CHECK(lost == "cuda: could not swim: CUDA_ERROR_LAUNCH_FAILED (the driver's own words); the "
                  "device context is lost (the process must be restarted)");
    for (const CUresult result : {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                  CUDA_ERROR_ASSERT, CUDA_ERROR_MISALIGNED_ADDRESS}) {
        CHECK(contains(complaint([&] { driver.check(result, "swim"); }), "context is lost"));
    }
    for (const CUresult result : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES}) {
        const std::string text = complaint([&] { driver.check(result, "swim"); });
        CHECK(contains(text, "could not swim"));
        CHECK(!contains(text, "lost"));
    }
    driver.check(CUDA_SUCCESS, "swim");
}
