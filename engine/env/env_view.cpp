#include "engine/env/env_view.h"

#include <cstring>

namespace nacelle {

void EnvView::set_params(const EnvSchema& schema, std::span<const std::byte> params) {
    std::memcpy(bytes_.data() + schema.header().params_offset, params.data(), params.size());
}

void EnvView::bind(const EnvSchema& schema, Registry& arrays, Registry& snapshots) {
    bind_at(schema.header().array_offset, schema, arrays);
    bind_at(schema.header().pool_offset, schema, snapshots);
}

void EnvView::place(const EnvSchema& schema, const std::string& name, void* memory) {
    slots(schema.header().array_offset)[schema.find(name)->slot] = memory;
}

void EnvView::bind_at(uint32_t offset, const EnvSchema& schema, Registry& arrays) {
    void** const slots = this->slots(offset);
    for (const Field& field : schema.fields()) {
        if (field.slot < 0) continue;
        if (const NamedArray* const array = arrays.find(field.name))
            slots[field.slot] = array->device();
    }
}

}
