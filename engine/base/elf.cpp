#include "engine/base/elf.h"

#include "engine/base/error.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>

static_assert(std::endian::native == std::endian::little, "headers are copied as they are");

namespace nacelle {
namespace {

using Bytes = std::span<const std::byte>;

// An image that is read through part() alone: a damaged offset cannot lead outside.
class Image final {
public:
    Image(Bytes bytes, std::string_view name) : bytes_(bytes), name_(name) {
        if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
            fail("is not an ELF file");
        }
        // The class and the byte order come before the header's size is known to be ours.
        const Bytes ident = part(0, EI_NIDENT);
        if (ident[EI_CLASS] != std::byte{ELFCLASS64}) fail("is not a 64-bit ELF file");
        if (ident[EI_DATA] != std::byte{ELFDATA2LSB}) fail("is not a little-endian ELF file");
        header_ = read<Elf64_Ehdr>(0);
        if (header_.e_shoff == 0) return;
        if (header_.e_shentsize != sizeof(Elf64_Shdr)) fail("has section headers of a wrong size");
        // More sections than 16 bits can count: the first section holds the number.
        const auto first = read<Elf64_Shdr>(header_.e_shoff);
        sections_ = header_.e_shnum != 0 ? header_.e_shnum : first.sh_size;
        if (sections_ > bytes.size() / sizeof(Elf64_Shdr)) fail("is cut short");
        part(header_.e_shoff, sections_ * sizeof(Elf64_Shdr));
    }

    uint64_t sections() const { return sections_; }

    Elf64_Shdr section(uint64_t index) const {
        if (index >= sections_) fail("refers to a section that it does not have");
        return read<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
    }

    Bytes content(const Elf64_Shdr& section) const {
        return part(section.sh_offset, section.sh_size);
    }

    template <class T> T read(uint64_t offset) const {
        T value;
        std::memcpy(&value, part(offset, sizeof(T)).data(), sizeof(T));
        return value;
    }

    Bytes part(uint64_t offset, uint64_t size) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset) fail("is cut short");
        return bytes_.subspan(offset, size);
    }

    [[noreturn]] void fail(const char* what) const { throw Error(std::string(name_), what); }

private:
    Bytes bytes_;
    std::string_view name_;
    Elf64_Ehdr header_{};
    uint64_t sections_ = 0;
};

bool is_named(Bytes names, uint64_t offset, std::string_view wanted) {
    if (offset > names.size() || names.size() - offset <= wanted.size()) return false;
    const std::byte* name = names.data() + offset;
    return std::memcmp(name, wanted.data(), wanted.size()) == 0 &&
           name[wanted.size()] == std::byte{0};
}

std::string name_at(const Image& image, Bytes names, uint64_t offset) {
    if (offset >= names.size()) image.fail("has a name outside its table of names");
    const auto* const name = reinterpret_cast<const char*>(names.data()) + offset;
    return {name, strnlen(name, names.size() - offset)};
}

// A symbol's value is an address in a shared object and an offset in a cubin, whose sections all have address 0.
// Minus the section's address it is an offset in both.
std::optional<Bytes> data_of(const Image& image, const Elf64_Sym& symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) return std::nullopt;
    // From SHN_LORESERVE on the number is no section: absolute, common, extended.
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return std::nullopt;
    const Elf64_Shdr section = image.section(symbol.st_shndx);
    const bool is_data = (section.sh_flags & SHF_ALLOC) && !(section.sh_flags & SHF_EXECINSTR);
    if (!is_data || section.sh_type == SHT_NOBITS) return std::nullopt;

    const Bytes content = image.content(section);
    const uint64_t offset = symbol.st_value - section.sh_addr;
    if (symbol.st_value < section.sh_addr || offset > content.size() ||
        symbol.st_size > content.size() - offset) {
        image.fail("has a symbol that lies outside its section");
    }
    return content.subspan(offset, symbol.st_size);
}

// Calls visit(symbol, names) for each symbol of the tables of a type, until it returns true.
template <class Visit> void each_symbol(const Image& image, uint32_t type, Visit&& visit) {
    for (uint64_t i = 0; i < image.sections(); ++i) {
        const Elf64_Shdr table = image.section(i);
        if (table.sh_type != type) continue;
        const Bytes symbols = image.content(table);
        const Bytes names = image.content(image.section(table.sh_link));
        for (size_t at = 0; symbols.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, symbols.data() + at, sizeof(symbol));
            if (visit(symbol, names)) return;
        }
    }
}

}

std::optional<Bytes> elf_symbol(Bytes bytes, std::string_view symbol, std::string_view what) {
    const Image image(bytes, what);
    std::optional<Bytes> data;
    for (const uint32_t type : {uint32_t{SHT_DYNSYM}, uint32_t{SHT_SYMTAB}})
        if (!data)
            each_symbol(image, type, [&](const Elf64_Sym& one, Bytes names) {
                if (is_named(names, one.st_name, symbol)) data = data_of(image, one);
                return data.has_value();
            });
    return data;
}

std::vector<std::string> elf_undefined(Bytes bytes, std::string_view what) {
    const Image image(bytes, what);
    std::vector<std::string> found;
    each_symbol(image, SHT_DYNSYM, [&](const Elf64_Sym& symbol, Bytes names) {
        if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) return false;
        found.push_back(name_at(image, names, symbol.st_name));
        return false;
    });
    return found;
}

std::vector<std::string> elf_needed(Bytes bytes, std::string_view what) {
    const Image image(bytes, what);
    std::vector<std::string> found;
    for (uint64_t i = 0; i < image.sections(); ++i) {
        const Elf64_Shdr table = image.section(i);
        if (table.sh_type != SHT_DYNAMIC) continue;
        const Bytes entries = image.content(table);
        const Bytes names = image.content(image.section(table.sh_link));
        for (size_t at = 0; entries.size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            std::memcpy(&entry, entries.data() + at, sizeof entry);
            if (entry.d_tag == DT_NEEDED) found.push_back(name_at(image, names, entry.d_un.d_val));
        }
    }
    return found;
}

}
