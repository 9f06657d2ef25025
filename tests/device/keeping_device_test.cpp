#include "engine/device/keeping_device.h"

#include "tests/device/on_cpu.h"
#include "tests/device/support.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <set>

using namespace nacelle;

namespace {

struct Counts {
    int allocations = 0, loads = 0, lookups = 0, modules = 0;
    size_t live = 0;
    std::set<const void*> streams;
};

class CountingModule final : public Module {
public:
    explicit CountingModule(Counts& counts) : counts_(counts) { ++counts_.modules; }
    ~CountingModule() override { --counts_.modules; }
    bool has_kernel(const std::string&) override { return true; }
    Kernel kernel(const std::string& name) override {
        ++counts_.lookups;
        return {.name = name};
    }
    Symbol symbol(const std::string&) override {
        ++counts_.lookups;
        return {};
    }

private:
    Counts& counts_;
};

// A device of 1000 bytes that counts what it is asked for.
class SmallDevice final : public OnCpu {
public:
    explicit SmallDevice(Counts& counts) : counts_(counts) {}
    size_t memory_free() override { return 1000 - counts_.live; }
    void* allocate(size_t bytes) override {
        if (bytes > memory_free()) throw Error("small", "out of memory");
        ++counts_.allocations;
        counts_.live += bytes;
        void* const memory = OnCpu::allocate(bytes + sizeof bytes);
        std::memcpy(static_cast<std::byte*>(memory) + bytes, &bytes, sizeof bytes);
        sizes_.emplace_back(memory, bytes);
        return memory;
    }
    void release(void* memory) noexcept override {
        const auto found = std::find_if(sizes_.begin(), sizes_.end(),
                                        [&](const auto& one) { return one.first == memory; });
        counts_.live -= found->second;
        sizes_.erase(found);
        OnCpu::release(memory);
    }
    std::unique_ptr<Module> load(std::span<const std::byte>) override {
        ++counts_.loads;
        return std::make_unique<CountingModule>(counts_);
    }

private:
    Counts& counts_;
    std::vector<std::pair<void*, size_t>> sizes_;
};

// A stream with a handle, which may be waited for as long as it lives.
class NamedStream final : public Stream {
public:
    explicit NamedStream(Counts& counts) : counts_(counts) { counts_.streams.insert(this); }
    ~NamedStream() override { counts_.streams.erase(this); }
    void launch(const Kernel&, const LaunchShape&, std::span<const std::byte>) override {}
    void to_device(void*, const void*, size_t) override {}
    void to_host(void*, const void*, size_t) override {}
    void copy(void*, const void*, size_t) override {}
    void fill(void* target, uint8_t value, size_t bytes) override {
        std::memset(target, value, bytes);
    }
    void synchronize() override {}
    void call(std::function<void()>) override {}
    void begin_capture() override { capturing_ = true; }
    std::unique_ptr<Graph> end_capture() override {
        capturing_ = false;
        return nullptr;
    }
    void replay(Graph&) override { CHECK(!capturing_); }
    double time(const std::function<void()>&) override { return 0; }
    void* native() override { return this; }
    void wait_for(void* native) override { CHECK(counts_.streams.contains(native)); }
    void make_wait(void* native) override { wait_for(native); }

private:
    Counts& counts_;
    bool capturing_ = false;
};

class StreamsDevice final : public OnCpu {
public:
    explicit StreamsDevice(Counts& counts) : counts_(counts) {}
    std::unique_ptr<Stream> stream() override { return std::make_unique<NamedStream>(counts_); }

private:
    Counts& counts_;
};

struct Session {
    Counts counts;
    std::shared_ptr<Device> device = keeping(std::make_shared<SmallDevice>(counts));
};

}

TEST_CASE("a device that keeps gives the same memory again, zeroed") {
    Session session;
    void* const first = session.device->allocate(100);
    std::memset(first, 7, 100);
    session.device->release(first);
    CHECK(session.device->memory_free() == 1000);
    void* const other = session.device->allocate(90);
    CHECK(other != first);
    void* const again = session.device->allocate(100);
    CHECK(again == first);
    const auto* const bytes = static_cast<const unsigned char*>(again);
    CHECK(std::all_of(bytes, bytes + 100, [](unsigned char byte) { return byte == 0; }));
    CHECK(session.counts.allocations == 2);
    CHECK(session.device->allocate(0) == nullptr);
    for (void* const memory : {again, other, static_cast<void*>(nullptr)})
        session.device->release(memory);
}

TEST_CASE("what a device keeps makes room for memory of another size") {
    Session session;
    session.device->release(session.device->allocate(600));
    CHECK(session.counts.live == 600);
    void* const other = session.device->allocate(700);
    CHECK(session.counts.live == 700);
    CHECK(complaint([&] { session.device->allocate(700); }) == "small: out of memory");
    session.device->release(other);
    session.device.reset();
    CHECK(session.counts.live == 0);
}

TEST_CASE("a module is loaded once for all that have it one after the other") {
    Session session;
    const std::string one = "one", two = "two";
    for (int run = 0; run < 3; ++run) {
        const auto module = session.device->load(bytes_of(one));
        CHECK(module->kernel("step").name == "step");
        CHECK(module->symbol("nacelle_view").address == nullptr);
    }
    CHECK(session.counts.loads == 1);
    CHECK(session.counts.lookups == 2);
    auto first = session.device->load(bytes_of(one));
    const auto beside = session.device->load(bytes_of(one)),
               other = session.device->load(bytes_of(two));
    CHECK(session.counts.loads == 3);
    session.device.reset();
    first.reset();
    CHECK(session.counts.modules == 3);
}

TEST_CASE("memory is waited for by streams that are still there, and the next who asks for one has "
          "them") {
    Counts counts;
    auto device = keeping(std::make_shared<StreamsDevice>(counts));
    const size_t own = counts.streams.size();
    for (int run = 0; run < 5; ++run) {
        const auto one = device->stream(), other = device->stream();
        void* const memory = device->allocate(100);
        device->release(memory);
        CHECK(device->allocate(100) == memory);    // waits for all
        device->release(memory);
        struct Nothing final : Graph {
        } graph;
        one->replay(graph);
        one->begin_capture();    // and does not come to end it
    }
    device->release(device->allocate(100));
    CHECK(counts.streams.size() == own + 2);
    auto last = device->stream();
    device.reset();
    last.reset();
    CHECK(counts.streams.empty());
}
