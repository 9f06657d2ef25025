#pragma once
#include <cstdint>

// The structs of DLPack 1.0, the protocol by which libraries share arrays: their layout is the protocol's.
namespace nacelle::python::dlpack {

enum DeviceType : int32_t { cpu = 1, cuda = 2 };
enum TypeCode : uint8_t { code_int = 0, code_uint = 1, code_float = 2, code_bool = 6 };

struct Device {
    int32_t type, number;
};
struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};
struct Tensor {
    void* data;
    Device device;
    int32_t dimensions;
    DataType type;
    int64_t* shape;
    int64_t* strides;    // null: the last dimension is the innermost one, without gaps
    uint64_t byte_offset;
};
struct ManagedTensor {
    static constexpr const char* name = "dltensor";
    static constexpr const char* used_name = "used_dltensor";
    Tensor tensor;
    void* context;
    void (*deleter)(ManagedTensor*);
};
struct Version {
    uint32_t major, minor;
};
struct VersionedTensor {
    static constexpr const char* name = "dltensor_versioned";
    static constexpr const char* used_name = "used_dltensor_versioned";
    static constexpr uint64_t is_read_only = 1, is_copied = 2;
    Version version;
    void* context;
    void (*deleter)(VersionedTensor*);
    uint64_t flags;
    Tensor tensor;
};

}
