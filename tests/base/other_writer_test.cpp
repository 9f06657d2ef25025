#include "engine/base/other_writer.h"

#include "tests/base/helpers.h"
#include "tests/support/skip.h"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/xattr.h>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

namespace {

constexpr uid_t somebody = 65534;

// home/own/env/pond.cu
struct Home {
    Home() {
        fs::create_directories(env);
        std::ofstream(file) << "int pond;\n";
    }
    const Folder folder;
    const fs::path home = folder / "home", own = home / "own", env = own / "env",
                   file = env / "pond.cu";
};

std::string below(const fs::path& path) {
    return "lies below " + path.string() + ", where other users can write";
}

}

TEST_CASE("whoever can write a folder above a file can exchange the file") {
    const Home at;
    CHECK(other_writer(at.file) == "");
    CHECK(other_writer(at.env) == "");
    for (const fs::path& folder : {at.home, at.own, at.env}) {
        ::chmod(folder.c_str(), 0777);
        CHECK(other_writer(at.file) == below(folder));
        // Here other users rename nothing of ours, and can add an include.
        ::chmod(folder.c_str(), 01777);
        CHECK(other_writer(at.file) ==
              (folder == at.env ? "lies in a folder where other users can write" : ""));
        CHECK(other_writer(at.env) == (folder == at.env ? "can be written by other users" : ""));
        CHECK(other_writer(folder) == "can be written by other users");
        ::chmod(folder.c_str(), 0755);
    }
    ::chmod(at.file.c_str(), 0666);
    CHECK(other_writer(at.file) == "can be written by other users");
    CHECK(other_writer(at.env / "none.cu") == "cannot be looked at");
}

TEST_CASE("links on the way are followed, and where they lie counts") {
    const Home at;
    const fs::path linked = at.folder / "linked", loop = at.folder / "loop";
    fs::create_symlink("home/own", linked);
    fs::create_symlink(loop, loop);
    CHECK(other_writer(linked / "env/pond.cu") == "");
    CHECK(other_writer(linked / "env/../env/pond.cu") == "");
    CHECK(other_writer(loop / "pond.cu") == "cannot be looked at");
    ::chmod(at.own.c_str(), 0777);
    CHECK(other_writer(linked / "env/pond.cu") == below(at.own));
    ::chmod(at.own.c_str(), 0755);
    ::chmod(at.folder.path().c_str(), 0777);
    CHECK(other_writer(linked / "env/pond.cu") == below(at.folder.path()));
}

TEST_CASE("folders and links of other users are found on the way") {
    if (::geteuid() != 0) NACELLE_SKIP("only root can give a file to somebody else");
    const Home at;
    const fs::path linked = at.folder / "linked";
    fs::create_symlink(at.own, linked);
    REQUIRE(::lchown(linked.c_str(), somebody, gid_t(-1)) == 0);
    const auto owned = [](const fs::path& path) {
        return "lies below " + path.string() + ", which belongs to another user";
    };
    CHECK(other_writer(linked / "env/pond.cu") == owned(linked));
    for (const fs::path& folder : {at.home, at.own}) {
        REQUIRE(::chown(folder.c_str(), somebody, gid_t(-1)) == 0);
        CHECK(other_writer(at.file) == owned(folder));
        REQUIRE(::chown(folder.c_str(), 0, 0) == 0);
    }
    REQUIRE(::chown(at.file.c_str(), somebody, gid_t(-1)) == 0);
    CHECK(other_writer(at.file) == "belongs to another user");
    REQUIRE(::chown(at.file.c_str(), 0, somebody) == 0);
    ::chmod(at.file.c_str(), 0664);
    CHECK(other_writer(at.file) == "can be written by other users");
}

TEST_CASE("users of an access control list are other users") {
    const Home at;
    struct Entry {
        uint16_t tag, rights;
        uint32_t user;
    };
    struct List {
        uint32_t version = 2;
        std::array<Entry, 5> entries;
    };
    constexpr uint32_t nobody = ~0u;
    const auto set = [&](uint16_t rights) {
        const List list{.entries = {{{0x01, 6, nobody},    // the owner
                                     {0x02, rights, somebody},
                                     {0x04, 4, nobody},         // the group
                                     {0x10, rights, nobody},    // the most that both above can have
                                     {0x20, 4, nobody}}}};      // all others
        return ::setxattr(at.file.c_str(), "system.posix_acl_access", &list, sizeof list, 0) == 0;
    };
    if (!set(4)) NACELLE_SKIP("this file system has no access control lists");
    CHECK(other_writer(at.file) == "");
    REQUIRE(set(6));
    CHECK(other_writer(at.file) == "can be written by other users");
}
