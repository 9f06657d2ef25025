#include "engine/base/shared_library.h"

#include "engine/base/files.h"
#include "engine/base/process.h"
#include "tests/base/helpers.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <optional>
#include <string>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A shared object from C source, or nothing where this machine has no compiler.
bool compile(const std::string& source, const std::filesystem::path& target) {
    if (find_program("cc").empty()) return false;
    const std::string file = target.string() + ".c";
    write_file(file, source);
    return run_process({"cc", "-shared", "-fPIC", "-o", target.string(), file}).status == 0;
}

}

TEST_CASE("a bare name is found by the system's loader") {
    const SharedLibrary library("libm.so.6");
    auto* cosine = library.function<double(double)>("cos");
    REQUIRE(library.find("cos") != nullptr);
    CHECK(cosine(0.0) == 1.0);
    CHECK(library.find("nacelle_no_such_symbol") == nullptr);
}

TEST_CASE("a library that is not there says so in one line") {
    const std::string text = error_of([] { SharedLibrary("libnacelle_missing.so.9"); });
    CHECK(text.starts_with("libnacelle_missing.so.9: cannot be loaded: "));
    CHECK(text.find("No such file") != text.npos);
    CHECK(text.find('\n') == text.npos);
    CHECK(error_of([] { SharedLibrary(""); }) == "shared library: no path given");
}

TEST_CASE("a file that is no library says so") {
    const Folder folder;
    const std::string path = (folder / "text.so").string();
    write_file(path, std::string(5000, 'x'));
    CHECK(error_of([&] { SharedLibrary{path}; }) ==
          path + ": cannot be loaded: invalid ELF header");
}

TEST_CASE("a symbol that nobody has is found missing at open, by name") {
    const Folder folder;
    if (!compile("int nacelle_nobody(void); int f(void) { return nacelle_nobody(); }",
                 folder / "broken.so")) {
        NACELLE_SKIP("no C compiler");
    }
    const std::string text = error_of([&] { SharedLibrary{folder / "broken.so"}; });
    CHECK(text.find("undefined symbol: nacelle_nobody") != text.npos);
}

TEST_CASE("two libraries with the same symbol each keep their own") {
    const Folder folder;
    if (!compile("int value(void) { return 1; }", folder / "one.so") ||
        !compile("int value(void) { return 2; }", folder / "two.so")) {
        NACELLE_SKIP("no C compiler");
    }
    const SharedLibrary one(folder / "one.so"), two(folder / "two.so");
    CHECK(one.function<int()>("value")() == 1);
    CHECK(two.function<int()>("value")() == 2);
}

TEST_CASE("a copy keeps the library open, and the last one closes it") {
    const Folder folder;
    if (!compile("static int* closed; void at_close(int* flag) { closed = flag; }"
                 "__attribute__((destructor)) static void end(void) { if (closed) *closed = 1; }",
                 folder / "ending.so")) {
        NACELLE_SKIP("no C compiler");
    }
    int closed = 0;
    std::optional<SharedLibrary> first(folder / "ending.so");
    std::optional<SharedLibrary> copy(first);
    first->function<void(int*)>("at_close")(&closed);
    first.reset();
    CHECK(closed == 0);
    copy.reset();
    CHECK(closed == 1);
}
