#pragma once
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// Compiled binaries on disk, found by the content they were made from. Many processes may use one
// directory at once. What is found in it is run: one that is not this user's own, or that others can write, is not
// used. Where it cannot be used or written, everything works without being kept; what else lies in it is left alone.
class Cache final {
public:
    // $XDG_CACHE_HOME/nacelle or ~/.cache/nacelle.
    static std::filesystem::path default_directory();

    explicit Cache(std::filesystem::path directory, size_t bound_bytes = size_t(1) << 30);

    // The entry's bytes, or nothing where it is missing or damaged (a damaged one is removed).
    std::optional<std::vector<std::byte>> find(const std::string& key);
    // Keeps the bytes under the key; false (and a note in trouble()) where that cannot be done.
    bool keep(const std::string& key, std::string_view bytes);
    // A file with these bytes, named by its content, for what must be opened by path.
    std::filesystem::path materialise(const std::string& name, std::string_view bytes);
    // Where files go that others open by path: the directory, or the private ones where that is not writable.
    std::filesystem::path files() const;
    // A directory of this user's among the temporary files; throws where somebody else has made it.
    static std::filesystem::path private_files();

    // Nothing has been kept: whatever is asked for will have to be compiled.
    bool empty() const;
    const std::filesystem::path& directory() const { return directory_; }
    std::string trouble() const;

private:
    void note(const std::string& reason);

    std::filesystem::path directory_;
    size_t bound_bytes_;
    bool writable_ = false;
    mutable std::mutex mutex_;    // a reload's worker and the main thread share one cache
    std::string trouble_;
};

}
