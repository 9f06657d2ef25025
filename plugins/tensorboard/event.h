#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

// The little of TensorBoard's format that scalars need. A file is a sequence of records:
//
//     uint64 length, uint32 masked CRC-32C of the length, the bytes, uint32 masked CRC-32C of the bytes
//
// all little-endian; the bytes are a protocol buffer, an Event. Written by hand: the library for protocol
// buffers and the generated code would be larger than all our plugins.
namespace nacelle::plugins::tensorboard {

// Castagnoli's polynomial, bits reversed.
inline constexpr std::array<uint32_t, 256> crc_table = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
        table[i] = value;
    }
    return table;
}();
// Turned and shifted, so that a checksum over data that holds checksums is none of them.
inline uint32_t masked_crc(std::string_view bytes) {
    uint32_t value = ~0u;
    for (const char byte : bytes)
        value = crc_table[(value ^ static_cast<unsigned char>(byte)) & 255u] ^ value >> 8;
    value = ~value;
    return (value >> 15 | value << 17) + 0xa282ead8u;
}

template <class T> void add_fixed(std::string& to, T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);    // little-endian, as all that we run on
    to.append(bytes, sizeof bytes);
}
inline void add_varint(std::string& to, uint64_t value) {
    for (; value >= 128; value >>= 7) to += static_cast<char>(value | 128);
    to += static_cast<char>(value);
}

// A field's number and how its value is written.
enum class Wire : uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
inline void add_key(std::string& to, uint32_t field, Wire wire) {
    add_varint(to, field << 3 | static_cast<uint32_t>(wire));
}
inline void add_bytes(std::string& to, uint32_t field, std::string_view bytes) {
    add_key(to, field, Wire::bytes);
    add_varint(to, bytes.size());
    to += bytes;
}
inline void add_number(std::string& to, uint32_t field, uint64_t value) {
    add_key(to, field, Wire::varint);
    add_varint(to, value);
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
inline std::string event(double wall_time, uint64_t step) {
    std::string bytes;
    add_key(bytes, 1, Wire::fixed64);
    add_fixed(bytes, wall_time);
    add_number(bytes, 2, step);
    return bytes;
}
inline std::string first_event(double wall_time) {
    std::string bytes = event(wall_time, 0);
    add_bytes(bytes, 3, "brain.Event:2");
    return bytes;
}
// SessionLog: 1 status, of which 1 is START: readers drop what earlier files have from this step on.
inline std::string restart_event(double wall_time, uint64_t step) {
    std::string bytes = event(wall_time, step), log;
    add_number(log, 1, 1);
    add_bytes(bytes, 7, log);
    return bytes;
}
// Summary: 1 value, of which 1 is the tag and 2 the number as a float.
inline std::string scalars_event(double wall_time, uint64_t step,
                                 std::span<const char* const> names,
                                 std::span<const double> values) {
    std::string bytes = event(wall_time, step), summary;
    for (size_t i = 0; i < names.size(); ++i) {
        std::string value;
        add_bytes(value, 1, names[i]);
        add_key(value, 2, Wire::fixed32);
        add_fixed(value, static_cast<float>(values[i]));
        add_bytes(summary, 1, value);
    }
    add_bytes(bytes, 5, summary);
    return bytes;
}

inline std::string record(const std::string& bytes) {
    std::string length;
    add_fixed(length, uint64_t(bytes.size()));
    std::string whole = length;
    add_fixed(whole, masked_crc(length));
    whole += bytes;
    add_fixed(whole, masked_crc(bytes));
    return whole;
}

}
