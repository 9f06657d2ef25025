#include "engine/run/directory.h"

#include "engine/base/error.h"
#include "engine/base/files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <map>
#include <sys/file.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

void make_directory(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error(path.string(), "cannot be made: " + error.message());
}

// What a process that was killed had begun to write.
void remove_temporaries(const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (is_unfinished_file(entry.path())) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path, ignored);
}

bool same_files(const fs::path& folder, const std::vector<SourceFile>& files) {
    try {
        return std::all_of(files.begin(), files.end(), [&](const SourceFile& file) {
            return read_file(folder / file.path) == file.text;
        });
    } catch (const Error&) {
        return false;
    }
}

}

// The directory itself is the lock: nothing is left behind when a process is killed.
RunDirectory::RunDirectory(fs::path path)
    : path_(std::move(path)), lock_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (lock_.get() < 0) throw Error(path_.string(), "is no directory that can be read");
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw Error(path_.string(), "another process is training in it");
}

RunDirectory RunDirectory::create(const fs::path& path) {
    require_no_run(path);
    make_directory(path);
    RunDirectory directory(path);
    make_directory(path / "checkpoints");
    return directory;
}

RunDirectory RunDirectory::open(const fs::path& path) {
    run_configuration(path);
    RunDirectory directory(path);
    make_directory(path / "checkpoints");
    remove_temporaries(path);
    remove_temporaries(path / "checkpoints");
    return directory;
}

void RunDirectory::write_configuration(const Json& configuration) const {
    write_file(path_ / "config.json", configuration.dump(2) + "\n");
}

void RunDirectory::keep_source(uint64_t step, const std::vector<SourceFile>& files) const {
    const std::vector<SourceVersion> kept = source_versions(path_);
    if (!kept.empty() && same_files(kept.back().folder, files)) return;
    const fs::path folder = path_ / "source" / std::to_string(step);
    // Of several versions of one step the last is the one that ran.
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    for (const SourceFile& file : files) {
        make_directory((folder / file.path).parent_path());
        write_file(folder / file.path, file.text);
    }
}

bool holds_run(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path / "config.json", ignored);
}

void require_no_run(const fs::path& path) {
    if (holds_run(path))
        throw Error(path.string(), "holds a run already",
                    "'nacelle resume " + path.string() + "' goes on with it");
}

Json run_configuration(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
        throw Error(path.string(), fs::exists(path, ignored) ? "is no directory" : "does not exist",
                    "name the directory of a run, such as runs/cartpole-1");
    if (!holds_run(path))
        throw Error(path.string(), "holds no run: it has no config.json",
                    "name the directory of a run, such as runs/cartpole-1");
    return load_json(path / "config.json");
}

std::vector<SourceVersion> source_versions(const fs::path& run) {
    std::map<uint64_t, fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run / "source", ignored)) {
        const std::string name = entry.path().filename().string();
        uint64_t step = 0;
        const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), step);
        if (wrong == std::errc() && end == name.data() + name.size()) found[step] = entry.path();
    }
    std::vector<SourceVersion> versions;
    for (const auto& [step, folder] : found) versions.push_back({step, folder});
    return versions;
}

}
