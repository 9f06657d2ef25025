#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <vector>

namespace nacelle {

// Files that are no source, but that a watched environment was made from: its tables and its settings. They are looked
// at now and then.
class DataFiles final {
public:
    // Follows these files from now on; those that it followed before keep their state.
    void follow(const std::vector<std::filesystem::path>& files);
    // Whether it is time for another look; cheap.
    bool due() const;
    // The files that were saved since they were first followed or last returned, each once it has come to rest. A
    // file that is away is not one of them.
    std::vector<std::filesystem::path> saved();

private:
    struct Stamp {
        int64_t seconds = 0, nanoseconds = 0, size = -1;
        uint64_t inode = 0;
        bool operator==(const Stamp&) const = default;
    };
    struct Followed {
        Stamp taken, last;
    };
    static Stamp stamp_of(const std::filesystem::path& file);

    std::map<std::filesystem::path, Followed> files_;
    std::chrono::steady_clock::time_point looked_;
};

}
