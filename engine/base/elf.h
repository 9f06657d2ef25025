#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// The bytes of a data symbol in a 64-bit ELF image (a shared object or a cubin), without loading the image. Nothing
// where the symbol is missing or has no bytes in the file (code, zeroes); throws where the image is cut short or not
// ELF. `what` names the image in messages. Pointers among the bytes are not relocated.
std::optional<std::span<const std::byte>>
elf_symbol(std::span<const std::byte> image, std::string_view symbol, std::string_view what);

// The names of the undefined symbols of a shared object, in the order of its symbol table.
std::vector<std::string> elf_undefined(std::span<const std::byte> image, std::string_view what);

// The names of a shared object's needed libraries, in the order of its dynamic section.
std::vector<std::string> elf_needed(std::span<const std::byte> image, std::string_view what);

}
