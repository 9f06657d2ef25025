#include "engine/device/cpu/cpu_device.h"

#include "engine/base/error.h"
#include "engine/base/shared_library.h"
#include "engine/device/bytes_text.h"
#include "engine/device/cpu/cpu_stream.h"
#include "engine/device/cpu/machine.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>

namespace nacelle {
namespace {

constexpr std::align_val_t memory_alignment{256};

class CpuModule final : public Module {
public:
    explicit CpuModule(const std::filesystem::path& path) : path_(path), library_(path) {}

    bool has_kernel(const std::string& name) override { return library_.find(name); }
    Kernel kernel(const std::string& name) override {
        Kernel kernel;
        kernel.name = name;
        kernel.function = library_.find(name);
        if (!kernel.function) throw Error(path_.string(), "it has no kernel '" + name + "'");
        return kernel;
    }

    Symbol symbol(const std::string& name) override { return {library_.find(name), 0}; }

private:
    std::filesystem::path path_;
    SharedLibrary library_;
};

int threads_or_processors(int threads) {
    check_threads(threads);
    return threads ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}

void check_threads(int threads) {
    if (threads >= 0 && threads <= most_threads) return;
    throw Error("threads", std::to_string(threads) + " worker threads cannot be started",
                "1 to " + std::to_string(most_threads) + ", or 0 for one per processor");
}

CpuDevice::CpuDevice(int threads)
    : pool_(std::make_shared<ThreadPool>(threads_or_processors(threads))) {
    info_.backend = Backend::cpu;
    info_.name = processor_name();
    info_.memory_bytes = machine_memory();
    info_.processors = pool_->threads();
}

size_t CpuDevice::memory_free() { return machine_memory_free(); }

void* CpuDevice::allocate(size_t bytes) {
    if (bytes == 0) return nullptr;
    // The kernel overcommits memory and kills the process on its use: check first.
    const size_t available = memory_free();
    void* memory = nullptr;
    if (bytes <= available) memory = ::operator new(bytes, memory_alignment, std::nothrow);
    if (!memory) {
        throw Error(info_.name, "out of memory: " + bytes_text(bytes) + " wanted, " +
                                    bytes_text(available) + " free");
    }
    std::memset(memory, 0, bytes);
    return memory;
}

void CpuDevice::release(void* memory) noexcept { ::operator delete(memory, memory_alignment); }

std::unique_ptr<Module> CpuDevice::load(std::span<const std::byte> binary) {
    const std::string path(reinterpret_cast<const char*>(binary.data()), binary.size());
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        throw Error(path, "there is no such shared object");
    }
    // The loader searches for a path without a slash among the libraries of the system.
    return std::make_unique<CpuModule>(std::filesystem::absolute(path));
}

std::unique_ptr<Stream> CpuDevice::stream() { return std::make_unique<CpuStream>(pool_); }

std::shared_ptr<Device> open_cpu(int threads) { return std::make_shared<CpuDevice>(threads); }

}
