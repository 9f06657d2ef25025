#pragma once
#include "engine/arrays/array.h"
#include "engine/compile/backend.h"
#include "python/binding/guard.h"

namespace nacelle::python {

// An array in a device's memory for Python, by the DLPack protocol. It holds the memory, so that what other libraries
// made of it stays valid when the environment is closed, reloaded or gone.
class DeviceArray final {
public:
    DeviceArray(std::shared_ptr<EngineUse> use, std::shared_ptr<RunsOn> on,
                std::shared_ptr<const Buffer> memory, std::string name, Dtype dtype,
                std::vector<int64_t> shape);
    ~DeviceArray();
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    const std::string& name() const { return name_; }
    const std::vector<int64_t>& shape() const { return shape_; }
    std::string dtype() const { return dtype_name(dtype_); }
    uintptr_t pointer() const { return reinterpret_cast<uintptr_t>(memory_->data()); }
    size_t bytes() const;

    // The type of device and its number, as DLPack has them.
    std::pair<int, int> dlpack_device() const;
    // A capsule. Work that is on the engine's stream now is ordered before what `stream` does later; see the
    // protocol for its numbers.
    nb::object dlpack(const nb::object& stream, const nb::object& max_version,
                      const nb::object& device, const nb::object& copy);
    // Copies all elements to ordinary memory, or from it.
    void read_into(nb::handle target) const;
    void write_from(nb::handle source);
    const std::shared_ptr<const Buffer>& memory() const { return memory_; }

private:
    std::shared_ptr<EngineUse> use_;
    std::shared_ptr<RunsOn> on_;
    std::shared_ptr<const Buffer> memory_;
    std::string name_;
    Dtype dtype_;
    std::vector<int64_t> shape_;
};

// The stream that a number of the DLPack protocol, or of a library, stands for: a CUstream.
void* native_stream(int64_t number);

void bind_device_array(nb::module_& module);

}
