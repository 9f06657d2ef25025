#include "tests/jit/fixture.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/process.h"
#include "engine/base/shared_library.h"

#include <cstdlib>
#include <stdexcept>

namespace nacelle::test {

namespace fs = std::filesystem;

Place::Place() {
    std::string name = (fs::temp_directory_path() / "nacelle-jit-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no directory for a test");
    path_ = fs::canonical(name);
}

Place::~Place() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path Place::write(const std::string& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    write_file(path_ / name, text);
    return path_ / name;
}

Variable::Variable(std::string name, const std::optional<std::string>& value)
    : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    if (value) ::setenv(name_.c_str(), value->c_str(), 1);
    else ::unsetenv(name_.c_str());
}

Variable::~Variable() {
    if (before_) ::setenv(name_.c_str(), before_->c_str(), 1);
    else ::unsetenv(name_.c_str());
}

MemoryHeader small_sdk() {
    return {"nacelle/env.h", R"(#pragma once
#if defined(__CUDACC_RTC__)
using int32_t = int;
using uint8_t = unsigned char;
using int64_t = long long;
#define KERNEL extern "C" __global__
#else
#include <cstdint>
#define KERNEL extern "C" __attribute__((visibility("default")))
#endif
namespace nacelle {
template <class T> constexpr T constant(const char*, T fallback) { return fallback; }
template <class T> int add(T a, T b) { return a.wrong + b; }
template <class T> int deeper(T a) { return add(a, a); }
template <class T> struct Large {
    static_assert(sizeof(T) > 100, "State is too small: give it \"more\" fields");
    static constexpr int value = sizeof(T);
};
template <class T> void take(T&) {}
template <class T> void fields(T& t) {
    auto& [a, b] = t;
    take(a);
    take(b);
}
template <class E> void drive(float* out) {
    static_assert(sizeof(typename E::State) != 12, "State has 12 bytes");
    typename E::State s{};
    E::reset(s);
    *out = s.x;
}
}
#define NACELLE_ENV(Name) using nacelle_author = Name;
)"};
}

ProgramSource program(const fs::path& author) {
    ProgramSource source;
    source.author = author;
    source.headers = {small_sdk()};
    source.instantiation = "#include <nacelle/env.h>\nKERNEL void run(float* out) { "
                           "nacelle::drive<nacelle_author>(out); }\n";
    return source;
}

std::string author_text(const std::string& body, const std::string& before) {
    return "#include <nacelle/env.h>\n" + before +
           "struct Tag {\n    struct State { float x; };\n    static void reset(State& s) {\n      "
           "  " +
           body + "\n    }\n};\nNACELLE_ENV(Tag)\n";
}

std::shared_ptr<Cache> cache_in(const Place& place) {
    return std::make_shared<Cache>(place.path() / "cache");
}

std::unique_ptr<Compiler> host_compiler(const std::string& name, std::shared_ptr<Cache> cache) {
    if (find_program(name).empty()) return nullptr;
    const Variable compiler("CXX", name);
    return open_host_compiler(std::move(cache));
}

std::unique_ptr<Compiler> nvrtc(std::shared_ptr<Cache> cache, const std::string& architecture) {
    try {
        return open_nvrtc(architecture, std::move(cache));
    } catch (const Error&) {
        return nullptr;
    }
}

fs::path path_of(const Binary& binary) {
    if (!binary.is_path) throw std::runtime_error("this is no file");
    return binary.image;
}

float run(const Binary& binary) {
    const SharedLibrary library(path_of(binary));
    auto* function = library.function<void(float*)>("run");
    if (!function) throw std::runtime_error("there is no kernel 'run'");
    float result = 0;
    function(&result);
    return result;
}

std::string text_of(const std::optional<std::string>& found) { return found.value_or("(nothing)"); }

Binary compiled(Compiler& compiler, const ProgramSource& source) {
    Compiled result = compiler.compile(source);
    if (auto* wrong = std::get_if<Diagnostics>(&result))
        throw std::runtime_error(wrong->text() + "\n" + wrong->raw);
    return std::get<Binary>(std::move(result));
}

Diagnostics failed(Compiler& compiler, const ProgramSource& source) {
    Compiled result = compiler.compile(source);
    if (std::holds_alternative<Binary>(result)) throw std::runtime_error("this must not compile");
    return std::get<Diagnostics>(std::move(result));
}

}
