#include "tests/support/folders.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <string>

namespace {

std::string output_of(const std::string& command) {
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe != nullptr);
    for (char part[256]; fgets(part, sizeof part, pipe.get());) text += part;
    return text;
}

}

const std::string program = "'" + nacelle::test::build_path("tests/support/sample") + "' 2>&1",
                  sample = "unset NACELLE_TEST_DEPTH; " + program;

TEST_CASE("the last line counts passed, failed and skipped test cases") {
    const std::string output = output_of(sample);
    const std::string last = "4 passed, 4 failed, 4 skipped\n";
    INFO(output);
    CHECK(output.ends_with("\n" + last));
    CHECK(output.find("skipped: skips: no such device\n") != std::string::npos);
    CHECK(output.find("skipped: skips in one part: first part\n") != std::string::npos);
    CHECK(output.find("skipped: leaves out a part: the other half\n") != std::string::npos);
}

TEST_CASE("a case that wants a GPU says so where it begins, or fails") {
    const std::string output = output_of(sample + " --test-case='*wants a GPU*'"),
                      marked = output_of(sample + " --test-suite='*gpu' --list-test-cases");
    INFO(output);
    CHECK(output.find("skipped: wants a GPU: no GPU: no driver\n") != std::string::npos);
    CHECK(output.find("ERROR: hides that it wants a GPU: ") != std::string::npos);
    CHECK(output.ends_with("\n0 passed, 1 failed, 1 skipped\n"));
    INFO(marked);
    CHECK(marked.find("\nwants a GPU\n") != std::string::npos);
    CHECK(marked.find("hides") == std::string::npos);
}

TEST_CASE("a brief run tells of what it left out as skipped") {
    const std::string output = output_of("NACELLE_TEST_DEPTH=brief " + program),
                      all = output_of("NACELLE_TEST_DEPTH=all " + program);
    const char *const long_one = "skipped: takes long: takes long; tools/nacelle test --all runs "
                                 "it without sanitizers\n",
                      *const longest =
                          "skipped: takes longest: takes long; the name of its part runs it\n";
    INFO(output);
    CHECK(output.ends_with("\n2 passed, 4 failed, 6 skipped\n"));
    CHECK(output.find(long_one) != std::string::npos);
    CHECK(output.find(longest) != std::string::npos);
    INFO(all);
    CHECK(all.ends_with("\n3 passed, 4 failed, 5 skipped\n"));
    CHECK(all.find(long_one) == std::string::npos);
    CHECK(all.find(longest) != std::string::npos);
}
