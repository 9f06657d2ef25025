#include "engine/watch/data_files.h"

#include <sys/stat.h>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;

// A file whose stamp is the same in two looks has been written to its end.
constexpr std::chrono::milliseconds between_data_looks{100};

}

DataFiles::Stamp DataFiles::stamp_of(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
}

void DataFiles::follow(const std::vector<std::filesystem::path>& files) {
    std::map<std::filesystem::path, Followed> now;
    for (const std::filesystem::path& file : files) {
        const auto known = files_.find(file);
        const Stamp stamp = known == files_.end() ? stamp_of(file) : Stamp{};
        now[file] = known == files_.end() ? Followed{stamp, stamp} : known->second;
    }
    files_ = std::move(now);
}

bool DataFiles::due() const { return Clock::now() - looked_ >= between_data_looks; }

std::vector<std::filesystem::path> DataFiles::saved() {
    std::vector<std::filesystem::path> found;
    if (!due()) return found;
    looked_ = Clock::now();
    for (auto& [file, followed] : files_) {
        const Stamp stamp = stamp_of(file);
        const bool rests = stamp == followed.last && stamp.size >= 0;
        followed.last = stamp;
        if (!rests || stamp == followed.taken) continue;
        followed.taken = stamp;
        found.push_back(file);
    }
    return found;
}

}
