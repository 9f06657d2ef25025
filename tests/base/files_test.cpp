#include "engine/base/files.h"

#include "tests/base/helpers.h"
#include "tests/support/skip.h"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

using namespace nacelle;
using namespace nacelle::test;

namespace {

size_t entries(const std::filesystem::path& folder) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

// Runs in a child process, whose limits and user may be changed; true where all of it held.
bool in_child(const std::function<bool()>& test) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(test() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A disk of 64 KiB that only this process sees.
bool mount_small_disk(const std::filesystem::path& folder) {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
}

}

TEST_CASE("what is written is what is read") {
    const Folder folder;
    std::mt19937 random(std::random_device{}());
    for (const size_t size : {0u, 1u, 4096u, 4097u, 300000u}) {
        std::string bytes(size, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        write_file(folder / "file", bytes);
        CHECK(read_file(folder / "file") == bytes);
    }
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("what a killed process had begun to write is told by its name") {
    const Folder folder;
    write_file(folder / "file", "whole");
    CHECK_FALSE(in_child([&] {
        const rlimit limit{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::signal(SIGXFSZ, SIG_DFL);
        write_file(folder / "file", std::string(4096, 'x'));
        return true;
    }));
    REQUIRE(entries(folder.path()) == 2);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        CHECK(is_unfinished_file(entry.path()) == (entry.path().filename() != "file"));
    CHECK(read_file(folder / "file") == "whole");
    for (const char* other : {".nacelle-settings", ".nacelle-", ".nacelle-0123456789abcdeg",
                              ".nacelle-0123456789abcdef0", "nacelle-0123456789abcdef"})
        CHECK_FALSE(is_unfinished_file(other));
}

TEST_CASE("a file under /proc, which has no size, is read whole") {
    CHECK(read_file("/proc/self/status").starts_with("Name:"));
}

TEST_CASE("a file that cannot be read says why") {
    const Folder folder;
    const std::string missing = (folder / "missing").string();
    CHECK(error_of([&] { read_file(missing); }) == missing + ": does not exist");
    const std::string directory = folder.path().string();
    CHECK(error_of([&] { read_file(directory); }) == directory + ": is a directory");
    write_file(folder / "file", "x");
    const std::string through = (folder / "file/inside").string();
    CHECK(error_of([&] { read_file(through); }) ==
          through + ": leads through a file that is no directory");
    // The first page of one's own memory is mapped nowhere.
    const std::string unmapped = error_of([&] { read_file("/proc/self/mem"); });
    CHECK(unmapped == "/proc/self/mem: cannot be read: the disk reports an error");
}

TEST_CASE("a pipe, a device and a file without an end are no plain files, and nothing waits") {
    const Folder folder;
    const std::string pipe = (folder / "pipe").string(), file = (folder / "file").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& none : {pipe, std::string("/dev/zero")}) {
        CHECK(error_of([&] { read_plain_file(none); }) == none + ": is no plain file");
        CHECK(error_of([&] { open_plain_file(none); }) == none + ": is no plain file");
    }
    const std::string directory = folder.path().string();
    CHECK(error_of([&] { open_plain_file(directory); }) == directory + ": is a directory");
    write_file(file, "four");
    CHECK(read_plain_file(file, 4) == "four");
    CHECK(error_of([&] { read_plain_file(file, 3); }) == file + ": has more than 3 bytes");
    std::filesystem::resize_file(file, uintmax_t(1) << 40);
    CHECK(error_of([&] { read_plain_file(file); }) == file + ": has more than 64 MiB");
}

TEST_CASE("a file of another user says that permission is denied") {
    const Folder folder;
    write_file(folder / "secret", "x");
    ::chmod((folder / "secret").c_str(), 0);
    ::chmod(folder.path().c_str(), 0555);
    CHECK(in_child([&] {
        if (::getuid() == 0 && ::setuid(65534) != 0) return false;
        const std::string secret = (folder / "secret").string();
        const std::string fresh = (folder / "new").string();
        return error_of([&] { read_file(secret); }) ==
                   secret + ": cannot be read: permission denied" &&
               error_of([&] { write_file(fresh, "x"); }) ==
                   fresh + ": cannot be written: permission denied";
    }));
    ::chmod(folder.path().c_str(), 0755);
}

TEST_CASE("a file that cannot be written says why") {
    const Folder folder;
    const std::string lost = (folder / "no/file").string();
    CHECK(error_of([&] { write_file(lost, "x"); }) ==
          lost + ": cannot be written: there is no directory '" + (folder / "no").string() + "'");
    std::filesystem::create_directory(folder / "taken");
    const std::string taken = (folder / "taken").string();
    CHECK(error_of([&] { write_file(taken, "x"); }) ==
          taken + ": cannot be written: is a directory");
    CHECK(error_of([&] { write_file(taken + "/", "x"); }) ==
          taken + "/: cannot be written: the path names no file");
    const std::string longest = (folder / std::string(300, 'n')).string();
    CHECK(error_of([&] { write_file(longest, "x"); }) ==
          longest + ": cannot be written: the name is too long");
    const std::string pipe = (folder / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0666) == 0);
    for (const std::string& device : {pipe, std::string("/dev/null")})
        CHECK(error_of([&] { write_file(device, "x"); }) ==
              device + ": is a device or a pipe, and a file would take its place (name a file)");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    CHECK(entries(folder.path()) == 2);
}

TEST_CASE("a write that fails half way leaves the old file and nothing else") {
    const Folder folder;
    write_file(folder / "file", "old");
    CHECK(in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        return error_of([&] { write_file(folder / "file", std::string(5000, 'n')); }) ==
               (folder / "file").string() +
                   ": cannot be written: the file is larger than the system allows";
    }));
    CHECK(read_file(folder / "file") == "old");
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a full disk is named, and the old file stays") {
    const Folder folder;
    const auto mount_disk = [&] { return mount_small_disk(folder.path()); };
    if (!in_child(mount_disk)) NACELLE_SKIP("this user may not mount a disk");
    CHECK(in_child([&] {
        if (!mount_disk()) return false;
        const std::string file = (folder / "file").string();
        write_file(file, "old");
        return error_of([&] { write_file(file, std::string(200000, 'n')); }) ==
                   file + ": cannot be written: the disk is full" &&
               read_file(file) == "old" && entries(folder.path()) == 1;
    }));
}

TEST_CASE("a reader sees the old file or the new one, never a part") {
    const Folder folder;
    const std::filesystem::path path = folder / "file";
    const std::string old_bytes(100000, 'a'), new_bytes(200000, 'b');
    write_file(path, old_bytes);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (int i = 0; i < 20; ++i) write_file(path, i % 2 ? old_bytes : new_bytes);
        done = true;
    });
    bool whole = true;
    while (!done) {
        const std::string seen = read_file(path);
        whole = whole && (seen == old_bytes || seen == new_bytes);
    }
    writer.join();
    CHECK(whole);
}

TEST_CASE("a file gets the permissions that the user's mask leaves") {
    const Folder folder;
    CHECK(in_child([&] {
        ::umask(027);
        write_file(folder / "file", "x");
        struct stat status {};
        return ::stat((folder / "file").c_str(), &status) == 0 && (status.st_mode & 0777) == 0640;
    }));
}

TEST_CASE("a private directory is made with its parents and belongs to its user alone") {
    const Folder folder;
    make_private_directory(folder / "a/b/c");
    make_private_directory(folder / "a/b/c");
    make_private_directory(folder / "a/b/c/");
    for (const char* name : {"a", "a/b", "a/b/c"}) {
        struct stat status {};
        REQUIRE(::stat((folder / name).c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
    }
    write_file(folder / "file", "x");
    const std::string file = (folder / "file").string();
    CHECK(error_of([&] { make_private_directory(file); }) ==
          file + ": cannot be made a directory: a file is in its place");
    CHECK(error_of([&] { make_private_directory(file + "/sub"); }) ==
          file + ": cannot be made a directory: a file is in its place");
}

TEST_CASE("a copy has all bytes of a file, and leaves the old file where it cannot be made") {
    const Folder folder;
    const std::string bytes = std::string(3 << 20, 'a') + "end";
    write_file(folder / "from", bytes);
    write_copy(folder / "to", folder / "from");
    CHECK(read_file(folder / "to") == bytes);
    CHECK(error_of([&] { write_copy(folder / "to", folder / "none"); }) ==
          (folder / "none").string() + ": does not exist");
    CHECK(error_of([&] { write_copy(folder / "none/to", folder / "from"); }) ==
          (folder / "none/to").string() + ": cannot be written: there is no directory '" +
              (folder / "none").string() + "'");
    CHECK(read_file(folder / "to") == bytes);
    CHECK(entries(folder.path()) == 2);
}

TEST_CASE("what is written by other means has a name beside its place that nobody else has") {
    const Folder folder;
    write_file(folder / "out.npz", "old");
    {
        UnfinishedFile one(folder / "out.npz");
        const UnfinishedFile other(folder / "out.npz");
        CHECK(one.path() != other.path());
        for (const auto& path : {one.path(), other.path()}) {
            CHECK(path.parent_path() == folder.path());
            CHECK(is_unfinished_file(path));
            CHECK(read_file(path) == "");
        }
        write_file(one.path(), "new");
        CHECK(read_file(folder / "out.npz") == "old");
        one.take_place();
    }
    CHECK(read_file(folder / "out.npz") == "new");
    CHECK(entries(folder.path()) == 1);
    CHECK(error_of([&] { UnfinishedFile(folder / "none/out.npz"); }) ==
          (folder / "none/out.npz").string() + ": cannot be written: there is no directory '" +
              (folder / "none").string() + "'");
}
