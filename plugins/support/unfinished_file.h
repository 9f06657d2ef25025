#pragma once
#include "plugins/support/appended_file.h"

#include <cstdio>
#include <random>
#include <sys/stat.h>

namespace nacelle::plugins {

// The name of a file that is being written. The engine names its own like this: what a killed process
// left of such names is removed when its run is gone on with.
inline std::string unfinished_name() {
    std::random_device random;
    char name[32];
    std::snprintf(name, sizeof name, ".nacelle-%08x%08x", random(), random());
    return name;
}

// What takes a file's place once it is whole: written beside it, under a name that nobody else has.
class UnfinishedFile final : public AppendedFile {
public:
    explicit UnfinishedFile(const std::filesystem::path& target)
        : UnfinishedFile(target, std::filesystem::path()) {}
    ~UnfinishedFile() {
        if (!beside_.empty()) ::unlink(beside_.c_str());
    }

    void take_place() {
        flush();
        struct stat old {};
        if (::stat(path().c_str(), &old) == 0) ::fchmod(file(), old.st_mode & 07777);
        if (::fsync(file()) != 0 || ::rename(beside_.c_str(), path().c_str()) != 0) fail(errno);
        beside_.clear();
    }

private:
    UnfinishedFile(const std::filesystem::path& target, std::filesystem::path beside)
        : AppendedFile(target, create(target, beside)), beside_(std::move(beside)) {}
    static int create(const std::filesystem::path& target, std::filesystem::path& beside) {
        for (;;) {
            beside = target.parent_path() / unfinished_name();
            const int file =
                ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
            if (file >= 0 || errno != EEXIST) return file;
        }
    }

    std::filesystem::path beside_;
};

}
