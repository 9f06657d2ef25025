#include "engine/device/cpu/cpu_device.h"
#include "engine/device/device.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <utility>

using namespace nacelle;

namespace {

// A device that only counts what it gave out.
class CountingDevice final : public Device {
public:
    const DeviceInfo& info() const override { return cpu_.info(); }
    size_t memory_free() override { return cpu_.memory_free(); }
    void* allocate(size_t bytes) override {
        ++live;
        return cpu_.allocate(bytes);
    }
    void release(void* memory) noexcept override {
        --live;
        cpu_.release(memory);
    }
    std::unique_ptr<Module> load(std::span<const std::byte> binary) override {
        return cpu_.load(binary);
    }
    std::unique_ptr<Stream> stream() override { return cpu_.stream(); }
    std::unique_ptr<Stream> stream_of(void*) override { return cpu_.stream(); }
    std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) override {
        return cpu_.share(bytes, handle);
    }
    std::unique_ptr<SharedMemory> open_shared(const std::string& handle) override {
        return cpu_.open_shared(handle);
    }
    std::unique_ptr<SharedMemory> visible_to_host(size_t bytes) override {
        return cpu_.visible_to_host(bytes);
    }
    bool reaches(const void* memory) override { return cpu_.reaches(memory); }

    int live = 0;

private:
    CpuDevice cpu_{1};
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
