#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

// A device that runs kernels: a CUDA GPU, or the threads of this machine. Everything above this folder is written
// once for both.
namespace nacelle {

enum class Backend : uint8_t { cpu, cuda };

// The properties of a device, read once when it is opened.
struct DeviceInfo {
    Backend backend = Backend::cpu;
    std::string name;             // "NVIDIA H200", or the processor's model name
    std::string architecture;     // "sm_90a" for NVRTC; empty on the CPU
    std::string driver;           // "CUDA driver 13.0 (580.159)"; empty on the CPU
    size_t memory_bytes = 0;      // total
    int processors = 0;           // multiprocessors, or worker threads
    size_t shared_bytes = 0;      // the most shared memory of a block, with opt-in; 0 on the CPU
    bool early_launch = false;    // a graph may send a kernel before the one before it has ended
};

// How a kernel's items are divided into blocks. A GPU runs `threads` threads a block; a CPU runs whole blocks in a
// loop, so that both have the same blocks.
struct LaunchShape {
    uint64_t items = 0;
    uint32_t threads = 128;
    uint32_t items_per_block = 128;
    uint32_t shared_bytes = 0;
    uint32_t cluster = 1;    // blocks of a thread block cluster

    uint64_t blocks() const { return (items + items_per_block - 1) / items_per_block; }
};

// A kernel of a loaded module, and its resource use. It lives as long as its module.
struct Kernel {
    std::string name;
    // CUfunction, or void (*)(const void* args, uint64_t begin, uint64_t end) over blocks.
    void* function = nullptr;
    int registers = 0;
    size_t local_bytes = 0;     // stack and spills of one thread
    size_t shared_bytes = 0;    // static
    int max_threads = 0;
    size_t args_bytes = 0;    // of its one parameter; 0 where unknown
    bool waits = false;       // for the launch before it, where it begins: it may be sent early
};

// Device memory behind a symbol of a module.
struct Symbol {
    void* address = nullptr;
    size_t bytes = 0;
};

// A compiled binary that is loaded on a device.
class Module {
public:
    virtual ~Module() = default;
    virtual bool has_kernel(const std::string& name) = 0;
    // Throws where there is no such kernel.
    virtual Kernel kernel(const std::string& name) = 0;
    // An empty symbol where there is none.
    virtual Symbol symbol(const std::string& name) = 0;
};

// Captured work of a stream, to be replayed.
class Graph {
public:
    virtual ~Graph() = default;
};

// An ordered queue of work. A CPU has done the work when a call returns, except between begin_capture and
// end_capture, where both backends record calls instead of running them. Host memory must stay valid until
// synchronize; `args` are copied.
class Stream {
public:
    virtual ~Stream() = default;
    virtual void launch(const Kernel&, const LaunchShape&, std::span<const std::byte> args) = 0;
    virtual void to_device(void* target, const void* host, size_t bytes) = 0;
    virtual void to_host(void* host, const void* source, size_t bytes) = 0;
    virtual void copy(void* target, const void* source, size_t bytes) = 0;
    virtual void fill(void* target, uint8_t value, size_t bytes) = 0;
    virtual void synchronize() = 0;
    // Work of somebody else's, such as a communication library: `put` puts it on native(), which may be capturing. A CPU
    // calls it when its turn comes, so also with each replay.
    virtual void call(std::function<void()> put) = 0;

    virtual void begin_capture() = 0;
    virtual std::unique_ptr<Graph> end_capture() = 0;
    virtual void replay(Graph&) = 0;

    // Milliseconds that the device took for the work that `work` puts on this stream.
    virtual double time(const std::function<void()>& work) = 0;
    virtual void* native() = 0;    // CUstream, or null on the CPU

    // Order with a stream of the application's (a CUstream; null: the default one), by which no thread waits. Work that
    // is put here from now on begins when that stream's work up to now has ended, or the other way round. A CPU has
    // nothing to do.
    virtual void wait_for(void* native) = 0;
    virtual void make_wait(void* native) = 0;
};

// Memory that kernels of this process and other processes of this machine, or its host, read and write.
class SharedMemory {
public:
    virtual ~SharedMemory() = default;
    virtual void* data() const = 0;
};

class Device {
public:
    virtual ~Device() = default;
    virtual const DeviceInfo& info() const = 0;
    virtual size_t memory_free() = 0;
    // Zeroed memory, 256-byte aligned. Throws where too little is free, with the amount that is.
    virtual void* allocate(size_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    // `binary` is a cubin for CUDA; for the CPU it is the path of a shared object.
    virtual std::unique_ptr<Module> load(std::span<const std::byte> binary) = 0;
    virtual std::unique_ptr<Stream> stream() = 0;
    // Work on a stream of the application's (a CUstream; null: the default one), which outlives it.
    virtual std::unique_ptr<Stream> stream_of(void* native) = 0;
    // Zeroed memory that another process of this machine opens by `handle`, any bytes.
    virtual std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) = 0;
    virtual std::unique_ptr<SharedMemory> open_shared(const std::string& handle) = 0;
    // Zeroed memory of the host that kernels see while they run.
    virtual std::unique_ptr<SharedMemory> visible_to_host(size_t bytes) = 0;
    // Whether its kernels can read and write at this address.
    virtual bool reaches(const void* memory) = 0;
};

// Owns memory of a device.
class Buffer final {
public:
    Buffer() = default;
    Buffer(std::shared_ptr<Device> device, size_t bytes);
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    void* data() const { return data_; }
    size_t bytes() const { return bytes_; }

private:
    std::shared_ptr<Device> device_;
    void* data_ = nullptr;
    size_t bytes_ = 0;
};

struct DeviceChoice {
    std::shared_ptr<Device> device;
    std::string why;    // "NVIDIA H200", "no GPU: libcuda.so.1 was not found"
};

// "auto" takes a GPU if one works, "cuda" requires it, "cpu" takes the CPU. threads: worker threads of the CPU, 0 for
// one per processor. gpu: which one of those that the driver finds. starting: called where a GPU driver was found, before it initialises, which takes a while.
DeviceChoice open_device(const std::string& backend, int threads = 0,
                         const std::function<void()>& starting = {}, int gpu = 0);

}
