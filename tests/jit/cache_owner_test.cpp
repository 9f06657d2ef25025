// Whose a cache may be.
#include "engine/base/error.h"
#include "engine/jit/cache.h"
#include "tests/jit/fixture.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
using nacelle::Cache;
using nacelle::test::Place;
using nacelle::test::text_of;
using nacelle::test::Variable;

TEST_CASE("a directory that others can write is not used") {
    const Place place;
    const Variable temporary("TMPDIR", place.path().string());
    const fs::path directory = place.path() / "cache";
    REQUIRE(Cache(directory).keep("key", "bytes"));
    for (const fs::path& open : {directory, directory / "files"})
        for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
            CAPTURE(open);
            fs::permissions(open, others, fs::perm_options::add);
            Cache cache(directory);
            CHECK(cache.trouble().find("can be written by others") != std::string::npos);
            CHECK_FALSE(cache.find("key"));
            CHECK_FALSE(cache.keep("other", "bytes"));
            CHECK(cache.files() == Cache::private_files());
            fs::permissions(open, others, fs::perm_options::remove);
            CHECK(text_of(Cache(directory).find("key")) == "bytes");
        }
}

TEST_CASE("nobody else can open the folder of compiles") {
    const Place place;
    const fs::path files = place.path() / "cache/files";
    fs::create_directories(files);
    fs::permissions(files, fs::perms(0755));
    CHECK(Cache(place.path() / "cache").files() == files);
    CHECK(fs::status(files).permissions() == fs::perms::owner_all);
}

TEST_CASE("a directory below one that others can write is not used") {
    const Place place;
    const Variable temporary("TMPDIR", place.path().string());
    const fs::path home = place.path() / "home", directory = home / "cache";
    REQUIRE(Cache(directory).keep("key", "bytes"));
    fs::permissions(home, fs::perms::others_write, fs::perm_options::add);
    Cache cache(directory);
    CHECK(cache.trouble().find("where other users can write") != std::string::npos);
    CHECK_FALSE(cache.find("key"));
}

TEST_CASE("nobody's directory is used but one's own, not even by root") {
    if (::geteuid() != 0) NACELLE_SKIP("only root can give a directory to somebody else");
    const Place place;
    const fs::path directory = place.path() / "cache";
    REQUIRE(Cache(directory).keep("key", "bytes"));
    REQUIRE(::chown(directory.c_str(), 12345, 12345) == 0);
    {
        const Variable temporary("TMPDIR", place.path().string());
        Cache cache(directory);
        CHECK(cache.trouble().find("belongs to somebody else") != std::string::npos);
        CHECK_FALSE(cache.find("key"));
    }
    // Without HOME it is a directory among everybody's temporary files, which a stranger can make first.
    const Variable temporary("TMPDIR", place.path().string());
    const Variable home("HOME", std::nullopt), caches("XDG_CACHE_HOME", std::nullopt);
    const fs::path planted = Cache::default_directory();
    REQUIRE(planted.parent_path() == place.path());
    fs::create_directories(planted / "files");
    REQUIRE(::chown(planted.c_str(), 12345, 12345) == 0);
    Cache cache(planted);
    CHECK_FALSE(cache.find("key"));
    CHECK_THROWS_WITH_AS(cache.materialise("tag.so", "bytes"),
                         doctest::Contains("belongs to somebody else"), nacelle::Error);
    // Neither is a link to a directory of one's own, which the stranger could turn elsewhere.
    fs::remove_all(planted);
    fs::create_directories(place.path() / "mine");
    fs::create_directory_symlink(place.path() / "mine", planted);
    CHECK_FALSE(Cache(planted).trouble().empty());
}

TEST_CASE("without HOME, and with a TMPDIR that is none, there is still a default directory") {
    const Variable home("HOME", std::nullopt), caches("XDG_CACHE_HOME", std::nullopt);
    const Variable temporary("TMPDIR", "/nowhere/at/all");
    CHECK(Cache::default_directory() == "/tmp/nacelle-" + std::to_string(::geteuid()));
}
