#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

// From an author's file to a binary, or to what is wrong with it.
namespace nacelle {

// A header that exists in memory only: the engine's SDK, a plugin's kernels.
struct MemoryHeader {
    std::string name;    // as included: "nacelle/env.h"
    std::string text;
};

// One program: the author's file under its own path, then headers, then the text that
// instantiates kernels around the author's functions.
struct ProgramSource {
    std::filesystem::path author;    // absolute
    std::vector<MemoryHeader> headers;
    std::string instantiation;           // C++ text after the #include of the author's file
    std::vector<std::string> defines;    // "NAME=VALUE"
    std::vector<std::string> options;    // further flags, for strict mode and sanitizers
    // Code that is there soon is wanted more than code that runs fast; it computes the same bits.
    bool draft = false;
    // Others compile at the same time: in a process of its own where there is one.
    bool aside = false;
};

// One thing a compiler said, in the author's words and place where possible.
struct Diagnostic {
    std::string file;
    int line = 0;
    std::string message;    // "class \"Tag::Member\" has no member \"posx\""
    std::string excerpt;    // that line of the file
};

// A failed compile. It is a value: a reload goes on with the old version.
struct Diagnostics {
    std::vector<Diagnostic> list;    // the first is the one to show
    std::string raw;                 // all that the compiler printed
    std::string text() const;        // as a user sees it
};

struct Binary {
    std::vector<std::byte> image;          // cubin, or the path of a shared object (no terminator)
    std::vector<std::byte> elf() const;    // the ELF file itself, for both
    bool is_path = false;
    bool from_cache = false;
    bool draft = false;    // as it was wanted: a full build of the same source would run faster
    double milliseconds = 0;
    std::string warnings;
};

using Compiled = std::variant<Binary, Diagnostics>;

class Cache;

// One of the two compilers, behind one cache.
class Compiler {
public:
    virtual ~Compiler() = default;
    // Everything about the compiler that changes its output: build, options, architecture or flags.
    virtual std::string identity() const = 0;
    // Setting `cancel` ends a compile early; it then throws.
    virtual Compiled compile(const ProgramSource&, const std::atomic<bool>* cancel = nullptr) = 0;
    // Whether this one is still to be compiled and others can be compiled beside it. Whatever does that
    // begins to get ready.
    virtual bool get_ready_beside(const ProgramSource&) { return false; }
};

class CompileHelpers;

// NVRTC, opened at run time. Throws where it is not found, with the places that were searched.
std::unique_ptr<Compiler> open_nvrtc(std::string architecture, std::shared_ptr<Cache> cache,
                                     std::shared_ptr<CompileHelpers> helpers = nullptr);
// Opens NVRTC and compiles nothing with it: what a process's first compile would have to do before. Where that
// fails, the first compile says why.
void warm_nvrtc();
// The C++ compiler of this machine: $CXX, then g++, c++, clang++ on PATH. Throws where there is none.
std::unique_ptr<Compiler> open_host_compiler(std::shared_ptr<Cache> cache);

// The author's file and every file that it includes with quotes, in order of first meeting.
std::vector<std::filesystem::path> include_closure(const std::filesystem::path& author);

}
