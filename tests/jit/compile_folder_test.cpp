#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/process.h"
#include "engine/jit/compile_folder.h"
#include "tests/jit/fixture.h"
#include "tests/support/processes.h"
#include "tests/support/skip.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace nacelle;
using namespace nacelle::test;

namespace {

size_t scratch_folders(const fs::path& place) {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(place))
        count += is_compile_folder(entry.path());
    return count;
}

// Everything below a folder.
std::vector<std::string> names_below(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        names.push_back(entry.path().lexically_relative(folder).string());
    std::sort(names.begin(), names.end());
    return names;
}

template <class Condition> bool within(int seconds, Condition&& condition) {
    for (int i = 0; i < seconds * 50; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return condition();
}

// A compiler that says what it is, and then takes its time: a driver, and a child of its own that would go on.
fs::path slow_compiler(const Place& place) {
    const fs::path script = place.write(
        "slow-cxx", "#!/bin/sh\ncase \"$*\" in *--version*|*/dev/null*) exec g++ \"$@\";; esac\n"
                    "touch $TMPDIR/left-behind\nsleep 600 & echo $! $$ > " +
                        (place.path() / "processes").string() + "\nwait\n");
    fs::permissions(script, fs::perms::owner_all);
    return script;
}

}

TEST_CASE("a work_folder folder goes with its object, and one that was left behind with the next") {
    const Place place;
    fs::path left;
    {
        const CompileFolder work_folder(place.path());
        work_folder.write("deep/er/file", "bytes");
        CHECK(read_file(work_folder.path() / "deep/er/file") == "bytes");
        CHECK_THROWS_AS(work_folder.write("../out", ""), Error);
        CHECK_THROWS_AS(work_folder.write("/out", ""), Error);
        // As a process that was killed leaves it; the first one is at work and stays.
        left = place.path() / "building-abcdef";
        fs::create_directories(left / "sdk");
        const CompileFolder other(place.path());
        CHECK_FALSE(fs::exists(left));
        CHECK(fs::exists(work_folder.path()));
    }
    CHECK(scratch_folders(place.path()) == 0);
    fs::create_directories(place.path() / "building-plan");
    const CompileFolder other(place.path());
    CHECK(fs::exists(place.path() / "building-plan"));
}

TEST_CASE("compiles leave nothing but their results, also those that are cancelled") {
    const Place place;
    const fs::path temporary = place.path() / "tmp";
    fs::create_directories(temporary);
    const Variable folder("TMPDIR", temporary.string());
    const auto cache = std::make_shared<Cache>(place.path() / "cache");
    const auto compiler = open_host_compiler(cache);
    for (int save = 0; save < 4; ++save) {
        const auto source =
            program(place.write("tag.cu", author_text("s.x = " + std::to_string(save) +
                                                      (save == 2 ? "; oops;" : ";"))));
        std::atomic<bool> cancel = false;
        std::thread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            cancel = save == 3;
        });
        try {
            compiler->compile(source, &cancel);
        } catch (const Error&) {}
        later.join();
    }
    CHECK(names_below(temporary).empty());
    for (const std::string& name : names_below(place.path() / "cache" / "files"))
        CHECK(name.starts_with("tag-"));
}

TEST_CASE("what is compiled is what is carried in memory, whatever lies in the cache") {
    const Place place;
    const auto cache = std::make_shared<Cache>(place.path() / "cache");
    const ProgramSource source = program(place.write("tag.cu", author_text("s.x = 4;")));
    // Where headers would lie by their content's hash, with a digit that is another one.
    Hash hash;
    for (const MemoryHeader& header : source.headers) hash.add(header.name).add(header.text);
    for (const MemoryHeader& header : source.headers) {
        std::string text = header.text;
        const size_t place_of = text.find("*out = s.x");
        REQUIRE(place_of != text.npos);
        text.replace(place_of, 10, "*out = 777");
        const fs::path file = cache->files() / ("sdk-" + hash.hex()) / header.name;
        fs::create_directories(file.parent_path());
        write_file(file, text);
    }
    CHECK(run(compiled(*open_host_compiler(cache), source)) == 4);
}

TEST_CASE("a compiler and its children end with the process that asked, and so do its files") {
    for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
        CAPTURE(signal);
        const Place place;
        const fs::path files = place.path() / "cache" / "files",
                       numbers = place.path() / "processes";
        const fs::path script = slow_compiler(place);
        const fs::path author = place.write("tag.cu", author_text("s.x = 1;"));
        const pid_t asking = ::fork();
        if (asking == 0) {
            std::signal(signal, SIG_DFL);    // not the test framework's
            try {
                const Variable cxx("CXX", script.string());
                open_host_compiler(std::make_shared<Cache>(place.path() / "cache"))
                    ->compile(program(author));
            } catch (...) {}
            ::_exit(0);
        }
        pid_t child = 0, driver = 0;
        REQUIRE(within(30, [&] {
            std::error_code trouble;
            if (!fs::exists(numbers, trouble)) return false;
            return std::sscanf(read_file(numbers).c_str(), "%d %d", &child, &driver) == 2;
        }));
        CHECK_FALSE(has_ended(child));
        CHECK(scratch_folders(files) == 1);
        ::kill(asking, signal);
        ::waitpid(asking, nullptr, 0);
        CHECK(within(10, [&] { return has_ended(child) && has_ended(driver); }));
        CHECK(within(10, [&] { return scratch_folders(files) == 0; }));
    }
}

TEST_CASE("a cache on a full disk is left out") {
    const Place place;
    const fs::path disk = place.path() / "disk", temporary = place.path() / "tmp";
    fs::create_directories(disk);
    fs::create_directories(temporary);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
        NACELLE_SKIP("no small disk can be mounted here");
    const Variable folder("TMPDIR", temporary.string());
    const ProgramSource source = program(place.write("tag.cu", author_text("s.x = 3;")));
    for (const size_t used : {0, 60 << 10, 64 << 10}) {
        CAPTURE(used);
        {
            std::FILE* const file = std::fopen((disk / "other").c_str(), "wb");
            const std::string bytes(used, 'x');
            std::fwrite(bytes.data(), 1, bytes.size(), file);
            std::fclose(file);
        }
        const auto compiler = open_host_compiler(std::make_shared<Cache>(disk / "cache"));
        const Binary made = compiled(*compiler, source);
        CHECK(read_file(made.image).size() > 1000);
        fs::remove_all(disk / "cache");
    }
    ::umount(disk.c_str());
}
