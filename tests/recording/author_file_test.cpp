#include "tests/recording/sample.h"

#include "engine/recording/author_file.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* pond = "#include \"depth.h\"\nint pond;\n";

// A recording that was played with a file and what it includes.
struct Recorded {
    Recorded() {
        home.write("pond.cu", pond);
        home.write("depth.h", "int depth;\n");
        RecordingHeader header = sample_header();
        header.files = recorded_hashes(read_closure(home.path() / "pond.cu"));
        RecordingWriter writer(other.path() / "a.recording", header, {});
        writer.finish();
    }
    std::string found(const std::vector<fs::path>& places) const {
        return find_author_file(Recording(other.path() / "a.recording"), places).string();
    }
    std::string said(const std::vector<fs::path>& places) const {
        return complaint([&] { found(places); });
    }
    // Where nobody else can write.
    std::vector<fs::path> near_home() const { return {home.path()}; }

    const Folder home, other;
};

}

TEST_CASE("the author's file is the one whose files are those that were recorded, none more and "
          "none less") {
    const Recorded recorded;
    const std::string file = (recorded.home.path() / "pond.cu").string();
    CHECK(recorded.found(recorded.near_home()) == file);
    CHECK(recorded.found({recorded.other.path(), recorded.home.path()}) == file);
    CHECK(recorded.said({recorded.other.path()}) ==
          "pond.cu: was not found, so that there is no draw() (--source FILE names it)");
    const std::string another =
        "pond.cu: is another one than was recorded, so that its draw() is not used (--source FILE "
        "names it)";
    recorded.home.write("depth.h", "int depth = 3;\n");
    CHECK(recorded.said(recorded.near_home()) == another);
    // A file less: what it includes is not there.
    recorded.home.write("depth.h", "int depth;\n");
    recorded.other.write("pond.cu", pond);
    CHECK(recorded.said({recorded.other.path()}) == another);
}

TEST_CASE("a file is not the recorded one for the sake of the files that a recording leaves out") {
    const Recorded recorded;
    RecordingHeader header = sample_header();
    header.files = recorded_hashes(read_closure(recorded.home.path() / "pond.cu"));
    header.files.erase("depth.h");
    const fs::path path = recorded.other.path() / "less.recording";
    RecordingWriter(path, header, {}).finish();
    CHECK(contains(complaint([&] { find_author_file(Recording(path), recorded.near_home()); }),
                   "is another one than was recorded"));
}

TEST_CASE("a file that others can write is not run") {
    const Recorded recorded;
    const fs::path header = recorded.home.path() / "depth.h";
    ::chmod(header.c_str(), 0666);
    CHECK(recorded.said(recorded.near_home()) ==
          "pond.cu: " + header.string() +
              " can be written by other users, so that its draw() is not used (--source FILE names "
              "it)");
    ::chmod(header.c_str(), 0644);
    ::chmod(recorded.home.path().c_str(), 0777);
    CHECK(contains(recorded.said(recorded.near_home()),
                   "pond.cu lies below " + recorded.home.path().string() +
                       ", where other users can write, so that"));
    ::chmod(recorded.home.path().c_str(), 01777);
    CHECK(contains(recorded.said(recorded.near_home()),
                   "pond.cu lies in a folder where other users can write, so that"));
}

TEST_CASE("what a file includes is read only where it is the recorded one and nobody else's") {
    const Recorded recorded;
    const fs::path file = recorded.other.write("pond.cu", "#include \"pipe.h\"\n");
    REQUIRE(::mkfifo((recorded.other.path() / "pipe.h").c_str(), 0666) == 0);
    CHECK(contains(recorded.said({recorded.other.path()}), "pond.cu: is another one"));
    ::chmod(file.c_str(), 0666);
    CHECK(contains(recorded.said({recorded.other.path()}), "can be written by other users"));
}

TEST_CASE("a file of another user is not run") {
    if (::geteuid() != 0) NACELLE_SKIP("only root can give a file to somebody else");
    const Recorded recorded;
    constexpr uid_t somebody = 65534;
    const fs::path file = recorded.home.path() / "pond.cu";
    REQUIRE(::chown(file.c_str(), somebody, gid_t(-1)) == 0);
    CHECK(
        contains(recorded.said(recorded.near_home()), "pond.cu belongs to another user, so that"));
    // A link of theirs to a file of ours may lead elsewhere a moment later.
    REQUIRE(::chown(file.c_str(), 0, gid_t(-1)) == 0);
    const fs::path link = recorded.other.path() / "pond.cu";
    fs::create_symlink(file, link);
    recorded.other.write("depth.h", "int depth;\n");
    CHECK(recorded.said({recorded.other.path()}) == "");
    REQUIRE(::lchown(link.c_str(), somebody, gid_t(-1)) == 0);
    CHECK(contains(recorded.said({recorded.other.path()}),
                   "pond.cu belongs to another user, so that"));
}
