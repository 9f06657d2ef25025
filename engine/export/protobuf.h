#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// As much of Protocol Buffers' wire format as an ONNX file needs. docs/decisions/running.md says why it is not a library.
namespace nacelle {

// The bytes of a message. Fields go in the order of their numbers, so that what others read and write again has the
// same bytes.
class ProtoMessage final {
public:
    ProtoMessage& integer(uint32_t field, int64_t value);
    ProtoMessage& number(uint32_t field, float value);
    // A text, raw bytes or a message.
    ProtoMessage& bytes(uint32_t field, std::string_view value);
    ProtoMessage& message(uint32_t field, const ProtoMessage& value) {
        return bytes(field, value.bytes_);
    }
    const std::string& all() const { return bytes_; }

private:
    void key(uint32_t field, uint32_t kind);
    void varint(uint64_t value);

    std::string bytes_;
};

// A field of a message that was read.
struct ProtoField {
    uint32_t number = 0;
    bool has_bytes = false;    // else it is a whole number, or the bits of a float
    uint64_t integer = 0;
    std::string_view bytes;      // of the value
    std::string_view written;    // of the whole field, with its number
};
// The fields of an untrusted message, which point into it; throws, with `where`, where it is none.
std::vector<ProtoField> read_proto(std::string_view message, const std::string& where);

}
