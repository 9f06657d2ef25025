#pragma once
#include "engine/jit/cache.h"
#include "engine/jit/jit.h"
#include "tests/support/folders.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace nacelle::test {

// A directory of a test's own, gone with it.
class Place final {
public:
    Place();
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, std::string_view text) const;

private:
    std::filesystem::path path_;
};

// An environment variable for as long as this lives.
class Variable final {
public:
    Variable(std::string name, const std::optional<std::string>& value);
    ~Variable();
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

// A small stand-in for the SDK: templates, static_asserts and structured bindings like its own.
MemoryHeader small_sdk();
// The author's file with the stand-in, and a kernel for either compiler that runs Tag::reset.
ProgramSource program(const std::filesystem::path& author);

// A file that steps: its state has one float, and `body` is what reset does with `State& s`.
std::string author_text(const std::string& body, const std::string& before = "");

std::shared_ptr<Cache> cache_in(const Place& place);
// The compilers that are here: the host's by name, and NVRTC.
std::unique_ptr<Compiler> host_compiler(const std::string& name, std::shared_ptr<Cache> cache);
std::unique_ptr<Compiler> nvrtc(std::shared_ptr<Cache> cache,
                                const std::string& architecture = "sm_90");

// The file that a host's compiler has made, and what the kernel in it gives.
std::filesystem::path path_of(const Binary& binary);
float run(const Binary& binary);

// What a cache has found, as a text.
std::string text_of(const std::optional<std::string>& found);

// What a compile must be, or the test ends with what it was.
Binary compiled(Compiler& compiler, const ProgramSource& source);
Diagnostics failed(Compiler& compiler, const ProgramSource& source);

}
