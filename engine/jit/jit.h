#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

// From an author's file to a binary, or to diagnostics.
namespace nacelle {

// A header in memory: of the SDK or of a plugin.
struct MemoryHeader {
    std::string name;    // as included: "nacelle/env.h"
    std::string text;
};

// One program: the author's file under its own path, then headers, then the text that instantiates kernels around the
// author's functions. A program of the engine's own has no author's file.
struct ProgramSource {
    std::filesystem::path author;    // absolute, or empty
    // Where `author` is a copy: the file that diagnostics name.
    std::filesystem::path copy_of = {};
    std::vector<MemoryHeader> headers;
    std::string instantiation;           // C++ text after the #include of the author's file
    std::vector<std::string> defines;    // "NAME=VALUE"
    std::vector<std::string> options;    // further flags, for strict mode and sanitizers
    // Compile quickly rather than optimise; the code computes the same bits.
    bool draft = false;
    // Other compiles run at the same time: use a helper process where there is one.
    bool aside = false;
    // The plugin that gave the instantiation and the last `given_headers` headers, for diagnostics.
    std::string given_by = {};
    size_t given_headers = 0;
};

// One error, with the author's own place and names where possible.
struct Diagnostic {
    std::string file;
    int line = 0;
    std::string message;    // "class \"Tag::Member\" has no member \"posx\""
    std::string excerpt;    // that line of the file
};

// The errors of a failed compile: a value, since a reload goes on with the old version.
struct Diagnostics {
    std::vector<Diagnostic> list;    // the first is the one to show
    std::string raw;                 // the whole output of the compiler
    std::string text() const;        // as a user sees it
};

struct Binary {
    std::string image;                     // cubin, or the path of a shared object
    std::vector<std::byte> elf() const;    // the ELF file itself, for both
    bool is_path = false;
    bool from_cache = false;
    bool draft = false;    // a full build of the same source would run faster
    double milliseconds = 0;
    std::string warnings;
};

using Compiled = std::variant<Binary, Diagnostics>;

class Cache;

// NVRTC or the compiler of the host, behind one cache.
class Compiler {
public:
    virtual ~Compiler() = default;
    // Everything that changes its output: build, options, architecture.
    virtual std::string identity() const = 0;
    // Setting `cancel` ends a compile early; it then throws.
    virtual Compiled compile(const ProgramSource&, const std::atomic<bool>* cancel = nullptr) = 0;
    // Whether there are helpers, which compile in parallel.
    virtual bool has_helpers() const { return false; }
    // Whether the source is not cached and a helper can compile it in parallel. Then starts the helpers.
    virtual bool get_ready_beside(const ProgramSource&) { return false; }
};

class CompileHelpers;

// Opens NVRTC. Throws where it is not found, with the places that were searched.
std::unique_ptr<Compiler> open_nvrtc(std::string architecture, std::shared_ptr<Cache> cache,
                                     std::shared_ptr<CompileHelpers> helpers = nullptr);
// Opens NVRTC and does the initialisation that a process's first compile would do. Where that fails, the first
// compile says why.
void warm_nvrtc();
// The C++ compiler of this machine: $CXX, then g++, c++, clang++ on PATH. Throws where there is none.
std::unique_ptr<Compiler> open_host_compiler(std::shared_ptr<Cache> cache);

}
