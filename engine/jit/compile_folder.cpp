#include "engine/jit/compile_folder.h"

#include "engine/base/error.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = "building-";
constexpr size_t letters = 6;    // that mkdtemp() chooses

int open_folder(const fs::path& folder) {
    return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Removes the folders that no process has locked.
void sweep(const fs::path& place) {
    std::error_code trouble;
    std::vector<fs::path> found;
    for (fs::directory_iterator i(place, trouble), end; !trouble && i != end; i.increment(trouble))
        if (is_compile_folder(i->path())) found.push_back(i->path());
    for (const fs::path& folder : found) {
        const Descriptor lock(open_folder(folder));
        if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
}

}

CompileFolder::Made CompileFolder::make(const fs::path& place) {
    // A new folder has no lock for a moment: nobody may sweep meanwhile.
    const Descriptor all(open_folder(place));
    if (::flock(all.get(), LOCK_EX | LOCK_NB) == 0) sweep(place);
    ::flock(all.get(), LOCK_SH);
    std::string name = (place / prefix).string() + std::string(letters, 'X');
    if (!::mkdtemp(name.data()))
        throw Error(place.string(),
                    "no folder can be made here: " + std::generic_category().message(errno));
    Descriptor lock(open_folder(name));
    ::flock(lock.get(), LOCK_SH | LOCK_NB);
    return {std::move(name), std::move(lock)};
}

CompileFolder::~CompileFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void CompileFolder::write(const fs::path& name, std::string_view bytes) const {
    const fs::path inside = name.lexically_normal();
    if (inside.empty() || inside.is_absolute() || *inside.begin() == "..")
        throw Error(name.string(), "leads out of the folder that it is written to");
    std::error_code trouble;
    fs::create_directories((path_ / inside).parent_path(), trouble);
    std::ofstream file(path_ / inside, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    file.close();
    if (!file) throw Error((path_ / inside).string(), "cannot be written: the disk may be full");
}

bool is_compile_folder(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with(prefix) && name.size() == prefix.size() + letters;
}

}
