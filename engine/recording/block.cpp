#include "engine/recording/block.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

#include <bit>
#include <cstring>
#include <zlib.h>

namespace nacelle {
namespace {

static_assert(std::endian::native == std::endian::little, "recordings have the lowest byte first");

// The maximal compression ratio of zlib: a head that claims more is refused before memory is allocated.
constexpr uint64_t most_per_byte = 1040;

uint32_t checksum(std::span<const std::byte> bytes) {
    return uint32_t(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T> void put(std::span<std::byte> head, size_t at, T value) {
    std::memcpy(head.data() + at, &value, sizeof value);
}
template <class T> T get(std::span<const std::byte> head, size_t at) {
    T value;
    std::memcpy(&value, head.data() + at, sizeof value);
    return value;
}

// Computed with zeros in its own place.
uint32_t head_checksum(std::span<const std::byte, block_head_size> head) {
    std::array<std::byte, block_head_size> copy;
    std::memcpy(copy.data(), head.data(), head.size());
    put(copy, 4, uint32_t(0));
    return checksum(copy);
}

std::vector<std::byte> packed(std::span<const std::byte> data) {
    uLongf size = ::compressBound(data.size());
    std::vector<std::byte> out(size);
    const int status =
        ::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                    reinterpret_cast<const Bytef*>(data.data()), data.size(), Z_BEST_SPEED + 2);
    if (status != Z_OK) throw Error("recording", "zlib has no memory to pack an episode");
    out.resize(size);
    return out;
}

// JSON of an untrusted file. A terminal would obey control characters in its text.
std::optional<Json> parse_foreign(const char* begin, const char* end) {
    std::optional<Json> json = try_parse_json({begin, size_t(end - begin)});
    if (json && !has_only_texts(*json, is_printable_line)) return std::nullopt;
    return json;
}

}

std::string recording_prologue() {
    std::string text(recording_start, '\0');
    std::memcpy(text.data(), recording_magic.data(), recording_magic.size());
    std::memcpy(text.data() + recording_magic.size(), &recording_version, sizeof recording_version);
    return text;
}

std::string block_text(std::string_view kind, const Json& about, std::span<const std::byte> data) {
    const std::string words = json_text(about);
    const std::vector<std::byte> body = packed(data);
    std::string text(block_head_size, '\0');
    text += words;
    text.append(reinterpret_cast<const char*>(body.data()), body.size());
    const std::span bytes(reinterpret_cast<std::byte*>(text.data()), text.size());
    const auto head = bytes.first<block_head_size>();
    std::memcpy(head.data(), kind.data(), 4);
    put(head, 8, uint64_t(body.size()));
    put(head, 16, uint64_t(data.size()));
    put(head, 24, checksum(bytes.subspan(block_head_size)));
    put(head, 28, uint32_t(words.size()));
    put(head, 4, head_checksum(head));
    return text;
}

std::optional<BlockHead> read_block_head(std::span<const std::byte, block_head_size> bytes) {
    if (get<uint32_t>(bytes, 4) != head_checksum(bytes)) return std::nullopt;
    BlockHead head;
    std::memcpy(head.kind.data(), bytes.data(), head.kind.size());
    head.packed = get<uint64_t>(bytes, 8);
    head.unpacked = get<uint64_t>(bytes, 16);
    head.check = get<uint32_t>(bytes, 24);
    head.about = get<uint32_t>(bytes, 28);
    // A forged head with a correct checksum: sizes must still not overflow.
    if (head.packed > uint64_t(1) << 62) return std::nullopt;
    return head;
}

bool is_whole(const BlockHead& head, std::span<const std::byte> body) {
    return body.size() == head.body() && checksum(body) == head.check;
}

std::optional<Json> about_of(const BlockHead& head, std::span<const std::byte> body) {
    const auto* const words = reinterpret_cast<const char*>(body.data());
    std::optional<Json> about = parse_foreign(words, words + head.about);
    if (!about || !about->is_object()) return std::nullopt;
    return about;
}

std::optional<std::vector<std::byte>> data_of(const BlockHead& head,
                                              std::span<const std::byte> body) {
    if (head.unpacked / most_per_byte > head.packed) return std::nullopt;
    std::vector<std::byte> data(head.unpacked);
    uLongf size = data.size();
    const int status =
        ::uncompress(reinterpret_cast<Bytef*>(data.data()), &size,
                     reinterpret_cast<const Bytef*>(body.data() + head.about), head.packed);
    if (status != Z_OK || size != data.size()) return std::nullopt;
    return data;
}

}
