#pragma once
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// Compiled binaries on disk, keyed by the content they were made from. Several processes may share a directory.
// Entries are executed: a directory that belongs to another user or that others can write is not used. Where the
// directory is unusable everything works uncached. Other files in it are left alone.
class Cache final {
public:
    // $XDG_CACHE_HOME/nacelle or ~/.cache/nacelle.
    static std::filesystem::path default_directory();

    explicit Cache(std::filesystem::path directory, size_t bound_bytes = size_t(1) << 30);

    // The entry's bytes; nothing where it is missing or damaged. Removes a damaged entry.
    std::optional<std::string> find(const std::string& key);
    // Stores the bytes under the key; false, with the reason in trouble(), where that fails.
    bool keep(const std::string& key, std::string_view bytes);
    // A file with these bytes, named by its content, for what must be opened by path.
    std::filesystem::path materialise(const std::string& name, std::string_view bytes);
    // The folder for files that others open by path: the directory, or private_files() where that is not writable.
    std::filesystem::path files() const;
    // This user's directory among the temporary files; throws where another user has made it.
    static std::filesystem::path private_files();

    // Whether the cache is empty, so that everything will have to be compiled.
    bool empty() const;
    const std::filesystem::path& directory() const { return directory_; }
    std::string trouble() const;

private:
    void note(const std::string& reason);
    bool may_be_full(size_t bytes);

    std::filesystem::path directory_;
    size_t bound_bytes_;
    bool writable_ = false;
    mutable std::mutex mutex_;    // the thread of a reload shares the cache
    std::string trouble_;
    std::optional<size_t> kept_;    // in bytes, since the directory was last looked through
};

}
