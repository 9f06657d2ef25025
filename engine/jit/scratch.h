#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>
#include <string_view>

namespace nacelle {

// A folder for one compile and what its compiler leaves there, removed in every case. One whose process was killed goes
// when the next one is made in the same place: a lock tells that nobody works in it.
class Scratch final {
public:
    // Throws where no folder can be made there.
    explicit Scratch(const std::filesystem::path& place) : Scratch(make(place)) {}
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Writes a file and the folders above it, within the folder. Not synced: it goes with the folder.
    void write(const std::filesystem::path& name, std::string_view bytes) const;

private:
    struct Made {
        std::filesystem::path path;
        Descriptor lock;
    };
    explicit Scratch(Made made) : path_(std::move(made.path)), lock_(std::move(made.lock)) {}
    static Made make(const std::filesystem::path& place);

    std::filesystem::path path_;
    Descriptor lock_;
};

// Whether such a folder's name.
bool is_scratch(const std::filesystem::path& path);

}
