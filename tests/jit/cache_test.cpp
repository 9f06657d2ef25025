#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/jit/cache.h"
#include "tests/jit/fixture.h"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using nacelle::Cache;
using nacelle::test::Place;
using nacelle::test::text_of;
using nacelle::test::Variable;

namespace {

void age(const fs::path& path, int minutes) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
}

}

TEST_CASE("a cache gives back what it was given, to a later process as well") {
    const Place place;
    const std::string bytes("one\0two", 7);
    CHECK(Cache(place.path() / "cache").keep("key", bytes));
    Cache cache(place.path() / "cache");
    CHECK(text_of(cache.find("key")) == bytes);
    CHECK_FALSE(cache.find("other"));
    CHECK(cache.keep("empty", ""));
    CHECK(text_of(cache.find("empty")) == "");
    CHECK(cache.trouble().empty());
}

TEST_CASE("a cache's directory is for this user alone") {
    const Place place;
    const Cache cache(place.path() / "deep" / "cache");
    struct stat status {};
    REQUIRE(::stat(cache.directory().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a damaged entry is removed") {
    const Place place;
    Cache cache(place.path());
    const fs::path entry = place.path() / "key";
    const auto damage = [&](auto change) {
        REQUIRE(cache.keep("key", "the bytes of a binary"));
        std::string file = nacelle::read_file(entry);
        change(file);
        nacelle::write_file(entry, file);
        CHECK_FALSE(cache.find("key"));
        CHECK_FALSE(fs::exists(entry));
    };
    damage([](std::string& file) { file.back() ^= 1; });
    damage([](std::string& file) { file.front() ^= 1; });
    damage([](std::string& file) { file.pop_back(); });
    damage([](std::string& file) { file.resize(10); });
    damage([](std::string& file) { file.clear(); });
    damage([](std::string& file) { file += "more"; });
    damage([](std::string& file) { file[8] ^= 2; });    // the version
}

TEST_CASE("an entry under another's name is not taken for it") {
    const Place place;
    Cache cache(place.path());
    REQUIRE(cache.keep("one", "bytes"));
    fs::rename(place.path() / "one", place.path() / "two");
    CHECK_FALSE(cache.find("two"));
}

TEST_CASE("a key that is no file's name is refused") {
    const Place place;
    Cache cache(place.path());
    CHECK_THROWS_AS(cache.keep("../key", "x"), nacelle::Error);
    CHECK_THROWS_AS(cache.find(""), nacelle::Error);
    CHECK_THROWS_AS(cache.materialise("a/b.so", "x"), nacelle::Error);
}

TEST_CASE("the least recently used entries make room") {
    const Place place;
    const std::string bytes(1000, 'x');
    Cache cache(place.path(), 3500);
    for (const char* key : {"a", "b", "c"}) REQUIRE(cache.keep(key, bytes));
    age(place.path() / "a", 30);
    age(place.path() / "b", 20);
    age(place.path() / "c", 10);
    CHECK(cache.find("a"));    // used: now b is the oldest
    REQUIRE(cache.keep("d", bytes));
    CHECK(cache.find("a"));
    CHECK_FALSE(cache.find("b"));
    CHECK(cache.find("c"));
    CHECK(cache.find("d"));
}

TEST_CASE("a cache is looked through for its first entry, and for each sixteenth of its bound") {
    const Place place;
    Cache cache(place.path() / "cache", 16000);
    REQUIRE(cache.keep("first", "small"));
    {
        Cache another(cache.directory(), size_t(1) << 20);
        REQUIRE(another.keep("old", std::string(20000, 'x')));
        age(cache.directory() / "old", 60);
    }
    REQUIRE(cache.keep("second", "small"));
    CHECK(fs::exists(cache.directory() / "old"));
    REQUIRE(cache.keep("third", std::string(1000, 'y')));
    CHECK_FALSE(fs::exists(cache.directory() / "old"));
    for (const char* const name : {"first", "second", "third"}) CHECK(cache.find(name));
}

TEST_CASE("an entry larger than the bound is kept alone") {
    const Place place;
    Cache cache(place.path(), 100);
    REQUIRE(cache.keep("small", "x"));
    REQUIRE(cache.keep("large", std::string(1000, 'x')));
    CHECK(cache.find("large"));
    CHECK_FALSE(cache.find("small"));
}

TEST_CASE("old materialised files make room, young ones may be about to be opened") {
    const Place place;
    Cache cache(place.path(), 100);
    const fs::path old = cache.materialise("old.so", std::string(1000, 'a'));
    const fs::path young = cache.materialise("young.so", std::string(1000, 'b'));
    const fs::path tree = cache.files() / ("sdk-" + std::string(32, '1'));
    const fs::path left_over = cache.files() / "building-a1B2c3";
    const fs::path half_written = place.path() / ".nacelle-0123456789abcdef";
    fs::create_directories(tree / "nacelle");
    nacelle::write_file(tree / "nacelle" / "env.h", std::string(1000, 'c'));
    nacelle::write_file(left_over, "half");
    nacelle::write_file(half_written, "half");
    age(old, 60);
    age(tree, 60);
    age(left_over, 60);
    age(half_written, 60);
    REQUIRE(cache.keep("key", "x"));
    CHECK_FALSE(fs::exists(old));
    CHECK_FALSE(fs::exists(tree));
    CHECK_FALSE(fs::exists(left_over));
    CHECK_FALSE(fs::exists(half_written));
    CHECK(fs::exists(young));
    CHECK(cache.find("key"));
}

TEST_CASE("entries of which a power cut left zeros or nothing make room") {
    const Place place;
    const std::string torn(32, 'a'), empty(32, 'b'), used(32, 'c'), foreign(32, 'd');
    place.write(torn, std::string(5000, '\0'));
    place.write(empty, "");
    place.write(foreign, std::string(5000, 'x'));
    place.write("zeros.bin", std::string(5000, '\0'));
    Cache cache(place.path(), 3500);
    for (const std::string& name : {torn, empty, foreign, std::string("zeros.bin")})
        age(place.path() / name, 60);
    REQUIRE(cache.keep(used, std::string(1000, 'x')));
    CHECK_FALSE(fs::exists(place.path() / torn));
    CHECK(fs::exists(place.path() / foreign));
    CHECK(fs::exists(place.path() / "zeros.bin"));
    CHECK(cache.find(used));
    // Nothing takes no room, and goes where more is asked for.
    REQUIRE(cache.keep("more", std::string(3000, 'x')));
    CHECK_FALSE(fs::exists(place.path() / empty));
}

TEST_CASE("what others keep in a cache's directory stays and does not count") {
    const Place place;
    const std::string much(5000, 'x');
    const char* const others[] = {
        "thesis.tex",          ".git/index",         "nacelle/files/data.bin",
        ".nacelle-settings",   "files/notes.txt",    "building-a1B2c3",
        "files/building-plan", "files/deed-beef.so", "files/src/main.cu"};
    for (const char* const other : others) {
        fs::path path = place.write(other, much);
        for (; path != place.path(); path = path.parent_path()) age(path, 6000);
    }
    fs::create_symlink(place.path() / "thesis.tex", place.path() / "link");
    Cache cache(place.path(), 3500);
    for (const char* key : {"a", "b", "c", "d", "e"}) {
        REQUIRE(cache.keep(key, much.substr(0, 1000)));
        age(place.path() / key, 10 - key[0] % 8);
    }
    for (const char* const other : others) {
        CAPTURE(other);
        CHECK(fs::exists(place.path() / other));
    }
    CHECK(fs::is_symlink(place.path() / "link"));
    CHECK_FALSE(cache.find("b"));
    for (const char* key : {"c", "d", "e"}) CHECK(cache.find(key));
}

TEST_CASE("a materialised file is named by its content and written again when it is damaged") {
    const Place place;
    Cache cache(place.path());
    const fs::path one = cache.materialise("tag.so", "one");
    CHECK(one.filename().string().starts_with("tag-"));
    CHECK(one.extension() == ".so");
    CHECK(cache.materialise("tag.so", "one") == one);
    CHECK(cache.materialise("tag.so", "two") != one);
    CHECK(nacelle::read_file(one) == "one");
    nacelle::write_file(one, "onx");
    CHECK(nacelle::read_file(cache.materialise("tag.so", "one")) == "one");
    fs::remove(one);
    CHECK(nacelle::read_file(cache.materialise("tag.so", "one")) == "one");
}

TEST_CASE("where the directory cannot be made everything works without being kept") {
    const Place place;
    const fs::path file = place.write("file", "no directory");
    const Variable temporary("TMPDIR", place.path().string());
    for (const fs::path& directory : {file / "cache", fs::path("/proc/nacelle")}) {
        Cache cache(directory);
        CAPTURE(directory);
        CHECK_FALSE(cache.trouble().empty());
        CHECK_FALSE(cache.keep("key", "bytes"));
        CHECK_FALSE(cache.find("key"));
        const fs::path made = cache.materialise("tag.so", "bytes");
        CHECK(nacelle::read_file(made) == "bytes");
        struct stat status {};
        REQUIRE(::stat(made.parent_path().c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
    }
}

TEST_CASE("a directory that goes away later is a trouble and no failure") {
    const Place place;
    const Variable temporary("TMPDIR", place.path().string());
    Cache cache(place.path() / "cache");
    fs::remove_all(place.path() / "cache");
    CHECK_FALSE(cache.keep("key", "bytes"));
    CHECK_FALSE(cache.trouble().empty());
    CHECK(nacelle::read_file(cache.materialise("tag.so", "bytes")) == "bytes");
}

TEST_CASE("the default directory follows XDG_CACHE_HOME, then HOME") {
    const Variable cache("XDG_CACHE_HOME", "/somewhere");
    CHECK(Cache::default_directory() == "/somewhere/nacelle");
    const Variable relative("XDG_CACHE_HOME", "relative");
    const Variable home("HOME", "/home/ada");
    CHECK(Cache::default_directory() == "/home/ada/.cache/nacelle");
    const Variable nobody("HOME", std::nullopt);
    CHECK(Cache::default_directory().is_absolute());
}

TEST_CASE("eight processes share one directory") {
    const Place place;
    const auto work = [&](int worker) {
        Cache cache(place.path() / "cache", 60000);
        for (int i = 0; i < 60; ++i) {
            const std::string key = "key" + std::to_string((i * 7 + worker) % 20);
            const std::string bytes =
                std::string(4000, static_cast<char>('a' + (i * 7 + worker) % 20)) + key;
            if (const auto found = cache.find(key); found && text_of(found) != bytes) return 1;
            if (!cache.keep(key, bytes)) return 2;
            if (nacelle::read_file(cache.materialise("lib.so", bytes)) != bytes) return 3;
            if (i % 10 == worker) nacelle::write_file(place.path() / "cache" / key, "damaged");
        }
        return cache.trouble().empty() ? 0 : 4;
    };
    std::vector<pid_t> workers;
    for (int worker = 0; worker < 8; ++worker) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int result = 9;
            try {
                result = work(worker);
            } catch (...) {}
            ::_exit(result);
        }
        workers.push_back(child);
    }
    for (const pid_t worker : workers) {
        int status = 0;
        REQUIRE(::waitpid(worker, &status, 0) == worker);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
}
