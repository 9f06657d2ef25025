#include "engine/supervised/crash_place.h"

#include <charconv>

namespace nacelle {
namespace {

std::string from_hex(const std::string& digits) {
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
        unsigned byte = 0;
        const char* const first = digits.data() + i;
        if (std::from_chars(first, first + 2, byte, 16).ptr != first + 2) return {};
        bytes += char(byte);
    }
    return bytes;
}

}

std::optional<CrashPlace> read_crash(const Json& word) {
    if (!word.is_object() || !word.contains("signal")) return std::nullopt;
    CrashPlace place;
    const auto object = word.find("object"), offset = word.find("offset");
    if (object != word.end() && object->is_string()) place.object = from_hex(*object);
    if (offset != word.end() && offset->is_number_integer()) place.offset = *offset;
    return place;
}

}
