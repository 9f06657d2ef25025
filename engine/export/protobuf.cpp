#include "engine/export/protobuf.h"

#include "engine/base/error.h"

#include <bit>

namespace nacelle {
namespace {

// The kinds of fields on the wire.
constexpr uint32_t wire_varint = 0, wire_eight = 1, wire_bytes = 2, wire_four = 5;

class ProtoReader final {
public:
    ProtoReader(std::string_view message, const std::string& where)
        : message_(message), where_(where) {}
    bool done() const { return at_ == message_.size(); }
    ProtoField field() {
        const size_t first = at_;
        const uint64_t key = varint();
        ProtoField field{.number = uint32_t(key >> 3)};
        if (key >> 3 == 0 || key >> 3 > 0x1fffffff) fail();
        switch (key & 7) {
            case wire_varint: field.integer = varint(); break;
            case wire_eight: field.integer = fixed(8); break;
            case wire_four: field.integer = fixed(4); break;
            case wire_bytes:
                field.has_bytes = true;
                field.bytes = take(varint());
                break;
            default: fail();
        }
        field.written = message_.substr(first, at_ - first);
        return field;
    }

private:
    [[noreturn]] void fail() const {
        throw Error(where_, "is no ONNX file, or a damaged one: its bytes are no message of "
                            "Protocol Buffers");
    }
    std::string_view take(uint64_t count) {
        if (count > message_.size() - at_) fail();
        const std::string_view taken = message_.substr(at_, size_t(count));
        at_ += size_t(count);
        return taken;
    }
    uint64_t varint() {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const auto byte = uint8_t(take(1)[0]);
            value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80)) return value;
        }
        fail();
    }
    uint64_t fixed(size_t bytes) {
        uint64_t value = 0;
        for (size_t i = 0; const char byte : take(bytes))
            value |= uint64_t(uint8_t(byte)) << 8 * i++;
        return value;
    }

    std::string_view message_;
    const std::string& where_;
    size_t at_ = 0;
};

}

void ProtoMessage::varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
    bytes_ += char(value);
}
void ProtoMessage::key(uint32_t field, uint32_t kind) { varint(field << 3 | kind); }

ProtoMessage& ProtoMessage::integer(uint32_t field, int64_t value) {
    key(field, wire_varint);
    varint(uint64_t(value));
    return *this;
}
ProtoMessage& ProtoMessage::number(uint32_t field, float value) {
    key(field, wire_four);
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_ += char(bits >> shift);
    return *this;
}
ProtoMessage& ProtoMessage::bytes(uint32_t field, std::string_view value) {
    key(field, wire_bytes);
    varint(value.size());
    bytes_ += value;
    return *this;
}

std::vector<ProtoField> read_proto(std::string_view message, const std::string& where) {
    std::vector<ProtoField> fields;
    for (ProtoReader reader(message, where); !reader.done();) fields.push_back(reader.field());
    return fields;
}

}
