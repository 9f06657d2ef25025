#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// The bytes of a data symbol of a 64-bit ELF image (a shared object or a cubin), read without
// loading it. Nothing where there is no such symbol, or where the file holds no bytes for it (code,
// zeroes); throws where the image is no ELF file or is cut short. `what` names the image in
// messages. The bytes are those of the file: a pointer among them has not been relocated.
std::optional<std::span<const std::byte>>
elf_symbol(std::span<const std::byte> image, std::string_view symbol, std::string_view what);

// The names that a shared object expects from others, in the order of its table of symbols.
std::vector<std::string> elf_undefined(std::span<const std::byte> image, std::string_view what);

}
