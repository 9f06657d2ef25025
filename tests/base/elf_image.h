#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

namespace nacelle::test {

// A small ELF file in memory: sections names, table, data, zeroes and code behind each other, with
// data at an address of the caller's choice (0 as in a cubin, another as in a shared object).
class ElfImage final {
public:
    enum Section : uint16_t { none, names, table, data, zeroes, code, section_count };

    explicit ElfImage(uint64_t address, uint32_t table_type = SHT_SYMTAB) : address_(address) {
        describe(names, SHT_STRTAB, 0);
        describe(table, table_type, 0);
        describe(data, SHT_PROGBITS, SHF_ALLOC);
        describe(zeroes, SHT_NOBITS, SHF_ALLOC);
        describe(code, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
        sections_[table].sh_link = names;
        sections_[data].sh_addr = address;
        sections_[zeroes].sh_size = 64;
        contents_[names].push_back('\0');
        contents_[code] = "code code";
        contents_[table].resize(sizeof(Elf64_Sym));
    }

    void add(const std::string& name, const std::string& bytes) {
        const uint64_t at = address_ + contents_[data].size();
        contents_[data] += bytes;
        add_symbol(name, data, at, bytes.size());
    }

    void add_symbol(const std::string& name, uint16_t section, uint64_t value, uint64_t size,
                    unsigned char type = STT_OBJECT) {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<uint32_t>(contents_[names].size());
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
        symbol.st_shndx = section;
        symbol.st_value = value;
        symbol.st_size = size;
        contents_[names] += name + '\0';
        append(contents_[table], symbol);
    }

    std::vector<std::byte> build() const {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = section_count;

        std::string body(sizeof(header), '\0'), headers;
        for (size_t i = 0; i < section_count; ++i) {
            Elf64_Shdr section = sections_[i];
            section.sh_offset = body.size();
            if (section.sh_type != SHT_NOBITS) section.sh_size = contents_[i].size();
            body += contents_[i];
            append(headers, section);
        }
        header.e_shoff = body.size();
        std::memcpy(body.data(), &header, sizeof(header));
        body += headers;
        const auto* first = reinterpret_cast<const std::byte*>(body.data());
        return {first, first + body.size()};
    }

private:
    void describe(Section section, uint32_t type, uint64_t flags) {
        sections_[section].sh_type = type;
        sections_[section].sh_flags = flags;
    }

    template <class T> static void append(std::string& bytes, const T& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }

    uint64_t address_;
    Elf64_Shdr sections_[section_count]{};
    std::string contents_[section_count];
};

}
