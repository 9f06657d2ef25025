#pragma once
#include "engine/arrays/registry.h"
#include "engine/compile/schema.h"

#include <nacelle/view.h>

namespace nacelle {

// The view of an environment that kernels read, as the host writes it: a head, the author's Params, and the addresses
// of its arrays and snapshots.
class EnvView final {
public:
    explicit EnvView(const EnvSchema& schema) : bytes_(schema.header().view_size) {}

    std::span<const std::byte> bytes() const { return bytes_; }
    ViewHead& head() { return *reinterpret_cast<ViewHead*>(bytes_.data()); }
    const ViewHead& head() const { return *reinterpret_cast<const ViewHead*>(bytes_.data()); }

    void set_params(const EnvSchema& schema, std::span<const std::byte> params);
    void bind(const EnvSchema& schema, Registry& arrays, Registry& snapshots);
    // Other memory for the array of this name.
    void place(const EnvSchema& schema, const std::string& name, void* memory);

private:
    void** slots(uint32_t offset) { return reinterpret_cast<void**>(bytes_.data() + offset); }
    void bind_at(uint32_t offset, const EnvSchema& schema, Registry& arrays);

    std::vector<std::byte> bytes_;
};

}
