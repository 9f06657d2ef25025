#include "engine/device/device.h"
#include "tests/device/on_cpu.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <utility>

using namespace nacelle;

namespace {

// A device that only counts what it gave out.
class CountingDevice final : public OnCpu {
public:
    void* allocate(size_t bytes) override {
        ++live;
        return OnCpu::allocate(bytes);
    }
    void release(void* memory) noexcept override {
        --live;
        OnCpu::release(memory);
    }

    int live = 0;
};

}

TEST_CASE("a buffer frees its memory once, wherever it was moved") {
    const auto device = std::make_shared<CountingDevice>();
    {
        Buffer first(device, 100);
        void* data = first.data();
        Buffer second(std::move(first));
        CHECK(second.data() == data);
        CHECK(second.bytes() == 100);
        CHECK(first.data() == nullptr);
        CHECK(first.bytes() == 0);

        Buffer third(device, 50);
        CHECK(device->live == 2);
        third = std::move(second);
        CHECK(device->live == 1);
        CHECK(third.data() == data);

        Buffer& itself = third;
        third = std::move(itself);
        CHECK(third.data() == data);
        CHECK(device->live == 1);

        third = Buffer();
        CHECK(device->live == 0);
    }
    CHECK(device->live == 0);
}

TEST_CASE("a buffer keeps its device alive") {
    Buffer buffer(open_device("cpu", 1).device, 16);
    static_cast<uint8_t*>(buffer.data())[15] = 1;
    CHECK(buffer.bytes() == 16);
}

TEST_CASE("a buffer of nothing has no memory") {
    const Buffer buffer(open_device("cpu", 1).device, 0);
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.bytes() == 0);
}
