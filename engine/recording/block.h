#pragma once
#include "engine/config/config.h"

#include <array>
#include <optional>
#include <span>

namespace nacelle {

// A recording is 16 bytes of magic and version, then blocks. A block is a head of 32 bytes, a JSON object
// and data that is packed by zlib:
//
//     0  kind, 4 letters         8  bytes of the data, packed     24  CRC-32 of all behind the head
//     4  CRC-32 of the head      16 bytes of the data, unpacked   28  bytes of the JSON
//
// Numbers have the lowest byte first. Every byte is under one of the checksums, so that what was cut or
// damaged is told from what is whole without a guess.
inline constexpr std::string_view recording_magic = "NACELREC";
inline constexpr uint32_t recording_version = 1;
inline constexpr size_t recording_start = 16, block_head_size = 32;

struct BlockHead {
    std::array<char, 4> kind{};
    uint32_t about = 0;     // bytes of the JSON
    uint64_t packed = 0;    // bytes of the data in the file
    uint64_t unpacked = 0;
    uint32_t check = 0;

    std::string_view name() const { return {kind.data(), kind.size()}; }
    uint64_t body() const { return about + packed; }
};

struct Block {
    Json about;
    std::vector<std::byte> data;
};

// The first 16 bytes of a file.
std::string recording_prologue();
// A block as it is written. `kind` has 4 letters.
std::string block_text(std::string_view kind, const Json& about, std::span<const std::byte> data);

// Nothing where the checksum of the head differs.
std::optional<BlockHead> read_block_head(std::span<const std::byte, block_head_size> bytes);
// Whether the body has the checksum of its head.
bool is_whole(const BlockHead& head, std::span<const std::byte> body);
// The JSON of a whole body; nothing where it is not a JSON object of printable text, or nests too deep.
std::optional<Json> about_of(const BlockHead& head, std::span<const std::byte> body);
// The data of a whole body; nothing where zlib cannot unpack it to the size in the head.
std::optional<std::vector<std::byte>> data_of(const BlockHead& head,
                                              std::span<const std::byte> body);

}
