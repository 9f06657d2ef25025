#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Reading an author's files without a compiler.
namespace nacelle {

// A C++ text in which spaces replace comments, and in `code` also the content of strings and characters. Both have
// the length of the text, so that positions agree.
struct MaskedText {
    std::string plain;
    std::string code;
};
MaskedText mask_comments(std::string_view text);

// Whether the character can be part of a C++ name.
bool is_word(char c);

struct SourceFile {
    std::filesystem::path path;
    std::string text;
};
// The author's file and all files that it includes with quotes, in order of first inclusion. The author's file must
// be readable, and all together have at most 64 MiB: somebody else may have written them.
std::vector<SourceFile> read_closure(const std::filesystem::path& author);
// What they include with quotes and is not there, such as headers that are carried in memory. A compiler reads such a file
// once somebody puts it there.
std::vector<std::filesystem::path> absent_includes(const std::vector<SourceFile>& files);
// Whether a compiler reads only these files, the headers that are carried in memory, and standard ones. Otherwise a compiler
// alone knows: an include may name a macro, or a file that lies elsewhere.
bool is_self_contained(const std::vector<SourceFile>& closure,
                       const std::set<std::string>& carried);
// The file of this path, or null.
const SourceFile* find_file(const std::vector<SourceFile>& files,
                            const std::filesystem::path& path);
bool same_text(const std::vector<SourceFile>& a, const std::vector<SourceFile>& b);

// A call of nacelle::constant("name", fallback).
struct ConstantUse {
    std::string name;
    std::string fallback;    // as written
    std::filesystem::path file;
    int line = 0;
};
std::vector<ConstantUse> constants_of(const std::filesystem::path& author);

// A NACELLE_ENV(Name) at some line.
struct EnvironmentUse {
    std::string name;
    std::filesystem::path file;
    int line = 0;
    bool conditional = false;    // inside #if: only the compiler knows whether it is active
};
std::vector<EnvironmentUse> environment_uses(const std::vector<SourceFile>& closure);

// The line number (from 1) of a position in a text, and the text of a line without its end.
int line_at(std::string_view text, size_t place);
std::string line_text(std::string_view text, int line);

}
