#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>
#include <string_view>

namespace nacelle {

// A temporary folder of one compile, removed with this object. If the process was killed, the next compile in the
// same place removes it: a lock marks folders in use.
class CompileFolder final {
public:
    // Throws where the folder cannot be created.
    explicit CompileFolder(const std::filesystem::path& place) : CompileFolder(make(place)) {}
    ~CompileFolder();
    CompileFolder(const CompileFolder&) = delete;
    CompileFolder& operator=(const CompileFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Writes a file and its parent folders within this folder. Does not sync.
    void write(const std::filesystem::path& name, std::string_view bytes) const;

private:
    struct Made {
        std::filesystem::path path;
        Descriptor lock;
    };
    explicit CompileFolder(Made made) : path_(std::move(made.path)), lock_(std::move(made.lock)) {}
    static Made make(const std::filesystem::path& place);

    std::filesystem::path path_;
    Descriptor lock_;
};

// Whether the path has the name of such a folder.
bool is_compile_folder(const std::filesystem::path& path);

}
