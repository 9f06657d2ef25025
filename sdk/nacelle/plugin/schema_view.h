#pragma once
#include <nacelle/plugin/abi.h>
#include <nacelle/schema.h>

namespace nacelle::plugin {

// An environment's schema in the types of nacelle/schema.h, whose structs those of C are.
class Schema {
public:
    explicit Schema(const nacelle_environment& environment) : schema_(environment.schema) {}

    const Header& header() const { return *reinterpret_cast<const Header*>(schema_); }
    const Field& field(uint32_t i) const {
        return *reinterpret_cast<const Field*>(nacelle_field_at(schema_, i));
    }

private:
    const nacelle_schema* schema_;
};

}
