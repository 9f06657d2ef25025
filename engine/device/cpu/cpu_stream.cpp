#include "engine/device/cpu/cpu_stream.h"

#include "engine/base/error.h"
#include "engine/device/launch_check.h"

#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace nacelle {
namespace {

// A copy of a kernel's arguments, aligned for any struct. Small ones need no allocation.
class Arguments final {
public:
    explicit Arguments(std::span<const std::byte> bytes) {
        if (bytes.size() > sizeof small_) {
            large_.reset(static_cast<std::byte*>(::operator new(bytes.size(), alignment)));
        }
        if (!bytes.empty()) std::memcpy(target(), bytes.data(), bytes.size());
    }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    const void* data() const { return large_ ? large_.get() : small_; }

private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
    };

    std::byte* target() { return large_ ? large_.get() : small_; }

    alignas(64) std::byte small_[512];
    std::unique_ptr<std::byte, Free> large_;
};

class CpuGraph final : public Graph {
public:
    explicit CpuGraph(std::vector<std::function<void()>> calls) : calls_(std::move(calls)) {}
    void run() const {
        for (const auto& call : calls_) call();
    }

private:
    std::vector<std::function<void()>> calls_;
};

// Exceptions of author code end here: the code above knows only the engine's own errors.
void run_kernel(ThreadPool& pool, const Kernel& kernel, const void* args, uint64_t blocks) {
    try {
        pool.run(reinterpret_cast<ThreadPool::Task>(kernel.function), args, blocks);
    } catch (const std::exception& exception) {
        throw Error(kernel.name, std::string("the kernel threw: ") + exception.what());
    } catch (...) {
        throw Error(kernel.name, "the kernel threw an exception");
    }
}

}

void CpuStream::launch(const Kernel& kernel, const LaunchShape& shape,
                       std::span<const std::byte> args) {
    const uint64_t blocks = checked_blocks(kernel, shape);
    if (blocks == 0) return;
    if (!capturing_) {
        run_kernel(*pool_, kernel, Arguments(args).data(), blocks);
        return;
    }
    captured_.push_back([pool = pool_, kernel, blocks, kept = std::make_shared<Arguments>(args)] {
        run_kernel(*pool, kernel, kept->data(), blocks);
    });
}

void CpuStream::to_device(void* target, const void* host, size_t bytes) {
    copy(target, host, bytes);
}

void CpuStream::to_host(void* host, const void* source, size_t bytes) { copy(host, source, bytes); }

void CpuStream::copy(void* target, const void* source, size_t bytes) {
    if (bytes == 0) return;
    if (capturing_) {
        captured_.push_back([=] { std::memmove(target, source, bytes); });
    } else {
        std::memmove(target, source, bytes);
    }
}

void CpuStream::fill(void* target, uint8_t value, size_t bytes) {
    if (bytes == 0) return;
    if (capturing_) {
        captured_.push_back([=] { std::memset(target, value, bytes); });
    } else {
        std::memset(target, value, bytes);
    }
}

void CpuStream::call(std::function<void()> put) {
    if (capturing_) captured_.push_back(std::move(put));
    else put();
}

void CpuStream::synchronize() { require_no_capture("synchronize"); }

void CpuStream::begin_capture() {
    require_no_capture("begin_capture");
    capturing_ = true;
}

std::unique_ptr<Graph> CpuStream::end_capture() {
    if (!capturing_) throw Error("stream", "end_capture without begin_capture");
    capturing_ = false;
    return std::make_unique<CpuGraph>(std::exchange(captured_, {}));
}

void CpuStream::replay(Graph& graph) {
    require_no_capture("replay");
    const auto* ours = dynamic_cast<const CpuGraph*>(&graph);
    if (!ours) throw Error("stream", "the graph was captured on another kind of device");
    ours->run();
}

double CpuStream::time(const std::function<void()>& work) {
    require_no_capture("time");
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

void CpuStream::require_no_capture(const char* call) const {
    if (capturing_) {
        throw Error("stream", std::string(call) + " was called while the stream is capturing");
    }
}

}
