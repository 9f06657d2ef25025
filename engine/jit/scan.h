#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// What can be known about an author's files without a compiler.
namespace nacelle {

// A C++ text with its comments, and in `code` also the insides of its strings and characters,
// replaced by spaces. All three have the same length, so that a place in one is a place in all.
struct ScannedText {
    std::string plain;
    std::string code;
};
ScannedText scan_text(std::string_view text);

// Whether a name of C++ may have the character in it.
bool is_word(char c);

struct SourceFile {
    std::filesystem::path path;
    std::string text;
};
// The files of include_closure() with what is in them; the author's own file must be readable.
std::vector<SourceFile> read_closure(const std::filesystem::path& author);

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
    bool conditional = false;    // inside #if: only a compiler knows whether it counts
};
std::vector<EnvironmentUse> environment_uses(const std::vector<SourceFile>& closure);
// The names of the environments that the author's files declare.
std::vector<std::string> environments_of(const std::filesystem::path& author);

// The line (from 1) of a place in a text, and that line without its end.
int line_at(std::string_view text, size_t place);
std::string line_text(std::string_view text, int line);

}
