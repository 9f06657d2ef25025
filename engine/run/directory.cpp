#include "engine/run/directory.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/run/run_state.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

// Unfinished files of a killed process.
void remove_temporaries(const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (is_unfinished_file(entry.path())) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path, ignored);
}

bool same_file(const fs::path& path, const std::string& text) {
    std::error_code ignored;
    try {
        return fs::is_regular_file(path, ignored) && read_plain_file(path, text.size()) == text;
    } catch (const Error&) {
        return false;
    }
}
bool same_files(const fs::path& folder, const std::vector<SourceFile>& files) {
    return std::all_of(files.begin(), files.end(), [&](const SourceFile& file) {
        return same_file(folder / file.path, file.text);
    });
}

fs::path source_folder(uint64_t step) { return fs::path("source") / std::to_string(step); }

// Refuses files that a new run would overwrite, unless they have the same bytes: a process may have been killed
// before it wrote the configuration.
void require_room(const fs::path& run, const std::vector<SourceFile>& files) {
    const auto refuse = [](const fs::path& path) {
        throw Error(path.string(), "is there already, and a new run would have to overwrite it",
                    "remove it, or name another directory");
    };
    if (const auto file = Checkpoints(run / "checkpoints").first_file()) refuse(*file);
    std::error_code ignored;
    for (const fs::path& file : {state_file_of(run), run / "count.json"})
        if (fs::exists(fs::symlink_status(file, ignored))) refuse(file);
    for (const SourceFile& file : files) {
        const fs::path place = source_folder(0) / file.path;
        fs::path above = run;
        for (const fs::path& part : place.parent_path())
            if (fs::exists(above /= part, ignored) && !fs::is_directory(above, ignored))
                refuse(above);
        if (fs::exists(fs::symlink_status(run / place, ignored)) &&
            !same_file(run / place, file.text))
            refuse(run / place);
    }
}

}

bool make_directory(const fs::path& path) {
    std::error_code error;
    const bool made = fs::create_directories(path, error);
    if (error) throw Error(path.string(), "cannot be made: " + error.message());
    return made;
}

RunDirectory::RunDirectory(LockedDirectory locked)
    : path_(std::move(locked.path)), lock_(std::move(locked.lock)), made_(locked.made) {}

void RunDirectory::make_checkpoints() {
    const fs::path folder = path_ / "checkpoints";
    make_directory(folder);
    checkpoints_ = Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Checked under the lock: another process may have trained in it meanwhile.
RunDirectory RunDirectory::create(LockedDirectory locked, const std::vector<SourceFile>& files) {
    RunDirectory directory(std::move(locked));
    require_no_run(directory.path_);
    require_own_folder(directory.path_);
    require_room(directory.path_, files);
    directory.make_checkpoints();
    return directory;
}

RunDirectory RunDirectory::create(const fs::path& path, const std::vector<SourceFile>& files) {
    return create(make_locked_directory(path), files);
}

RunDirectory RunDirectory::create_next(const fs::path& stem) {
    return create(make_next_directory(stem), {});
}

RunDirectory RunDirectory::open(const fs::path& path) {
    run_configuration(path);
    RunDirectory directory({.path = path, .lock = lock_directory(path)});
    require_own_folder(path);
    directory.make_checkpoints();
    remove_temporaries(path);
    remove_temporaries(path / "checkpoints");
    return directory;
}

// A directory that is gone is left to the write, whose message says so.
const fs::path& RunDirectory::held() const {
    const auto look = [](const fs::path& path, const Descriptor& opened) {
        struct stat now {};
        struct stat at_first {};
        if (::stat(path.c_str(), &now) == 0 && ::fstat(opened.get(), &at_first) == 0 &&
            (now.st_dev != at_first.st_dev || now.st_ino != at_first.st_ino))
            throw Error(path.string(), "is another directory than at the start of this run, which "
                                       "writes nothing more");
    };
    look(path_, lock_);
    look(path_ / "checkpoints", checkpoints_);
    return path_;
}

void RunDirectory::discard() const {
    std::error_code ignored;
    if (made_) fs::remove_all(held(), ignored);
}

void RunDirectory::write_configuration(const Json& configuration) const {
    (synced_ ? write_file : write_cached_file)(held() / "config.json",
                                               json_text(configuration, 2) + "\n");
}

void RunDirectory::keep_source(uint64_t step, const std::vector<SourceFile>& files) const {
    std::vector<SourceVersion> kept = source_versions(path_);
    while (!kept.empty() && kept.back().step > step) kept.pop_back();
    if (!kept.empty() && same_files(kept.back().folder, files)) return;
    // Of several versions of one step the last is the one that ran. Other files stay: somebody else may have put them
    // there.
    const fs::path folder = held() / source_folder(step);
    for (const SourceFile& file : files) {
        make_directory((folder / file.path).parent_path());
        (synced_ ? write_file : write_cached_file)(folder / file.path, file.text);
    }
}

bool holds_run(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path / "config.json", ignored);
}

fs::path seeds_file_of(const fs::path& path) { return path / "seeds.json"; }

bool holds_seeds(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(seeds_file_of(path), ignored);
}

void require_no_run(const fs::path& path) {
    if (holds_run(path))
        throw Error(path.string(), "holds a run already",
                    "'nacelle resume " + shell_word(path.string()) + "' goes on with it");
}

void require_one_run(const fs::path& path) {
    if (!holds_run(path) && holds_seeds(path))
        throw Error(path.string(), "holds the runs of several seeds",
                    "name one of them, such as " + (path / "seed-1").string());
}

namespace {

bool is_of_another_user(const struct stat& status) {
    return status.st_uid != ::geteuid() && status.st_uid != 0;
}

}

void require_own_folder(const fs::path& run) {
    std::error_code ignored;
    const auto look = [&](const fs::path& path, bool inside) {
        struct stat status {};
        if ((inside ? ::lstat : ::stat)(path.c_str(), &status) != 0) return;
        if (inside && S_ISLNK(status.st_mode)) {
            if (!lies_below(path.parent_path() / fs::read_symlink(path, ignored), run))
                throw Error(path.string(),
                            "is a link that leads out of the run's folder, and a run writes "
                            "nothing outside",
                            "remove the link, or put there what it leads to");
            // Once the run has made a folder, such a link may lead outside.
            if (!fs::exists(path, ignored))
                throw Error(path.string(), "is a link that leads nowhere",
                            "remove the link, or put there what it leads to");
        } else if (inside && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
            throw Error(path.string(), "is no plain file, and a run would wait for it",
                        "remove it, or name another directory");
        } else if (S_ISDIR(status.st_mode) && is_of_another_user(status)) {
            throw Error(path.string(),
                        "belongs to another user, who could lead elsewhere what a run writes",
                        "name another directory, or a copy of your own");
        }
    };
    // The run's own path may be a link of this user; then its target is looked at.
    struct stat link {};
    if (::lstat(run.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && is_of_another_user(link))
        throw Error(run.string(), "is a link of another user, who could lead it elsewhere",
                    "name another directory, or a copy of your own");
    look(run, false);
    fs::recursive_directory_iterator each(run, ignored), end;
    while (each != end) {
        const fs::path path = each->path();
        look(path, true);
        std::error_code error;
        each.increment(error);
        if (error) throw Error(path.string(), "cannot be read: " + error.message());
    }
}

Json run_configuration(const fs::path& path) {
    std::error_code ignored;
    const std::string name = path.string();
    const size_t at = name.rfind('@');
    if (!fs::exists(path, ignored) && at != name.npos && holds_run(name.substr(0, at)))
        throw Error(name, "does not exist",
                    "'match' and 'export' take RUN@WHICH; 'eval' has --checkpoint WHICH");
    if (!fs::is_directory(path, ignored))
        throw Error(path.string(), fs::exists(path, ignored) ? "is no directory" : "does not exist",
                    "name the directory of a run, such as runs/cartpole-1");
    require_one_run(path);
    if (!holds_run(path))
        throw Error(path.string(), "holds no run: it has no config.json",
                    "name the directory of a run, such as runs/cartpole-1");
    const fs::path file = path / "config.json";
    Json settings = load_json(file);
    for (const char* const part :
         {"", "/env", "/learner", "/policies", "/run", "/hooks", "/solved"})
        if (const Json::json_pointer place(part);
            settings.contains(place) && !settings[place].is_object())
            throw Error(file.string(), (*part ? std::string(part + 1) + " is" : "is") +
                                           " no object: these are no settings of a run");
    return settings;
}

std::vector<SourceVersion> source_versions(const fs::path& run) {
    std::map<uint64_t, fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run / "source", ignored)) {
        const std::string name = entry.path().filename().string();
        uint64_t step = 0;
        const std::errc wrong = std::from_chars(name.data(), name.data() + name.size(), step).ec;
        const bool ours = wrong == std::errc() && name == std::to_string(step);
        if (ours && entry.is_directory(ignored)) found[step] = entry.path();
    }
    std::vector<SourceVersion> versions;
    for (const auto& [step, folder] : found) versions.push_back({step, folder});
    return versions;
}

}
