#pragma once
#include "engine/device/cuda/context.h"
#include "engine/device/device.h"

#include <memory>

namespace nacelle {

// A cubin (or zero-terminated PTX text) loaded into a context.
class CudaModule final : public Module {
public:
    CudaModule(std::shared_ptr<const CudaContext> context, const DeviceInfo& info,
               std::span<const std::byte> binary);
    ~CudaModule() override;
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    bool has_kernel(const std::string& name) override { return function(name) != nullptr; }
    Kernel kernel(const std::string& name) override;
    Symbol symbol(const std::string& name) override;

private:
    // Null where there is none.
    CUfunction function(const std::string& name);

    std::shared_ptr<const CudaContext> context_;
    size_t shared_bytes_;
    CUmodule module_ = nullptr;
};

}
