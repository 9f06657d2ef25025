#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>
#include <map>
#include <set>

namespace nacelle {

// What the kernel tells of changes in some folders. Folders, not files: an editor that saves by rename
// puts another file under the name, and a watch on the old one would never wake again.
class FolderEvents final {
public:
    FolderEvents();

    // False where the kernel gives no events, or not for all of these folders.
    bool watch(const std::set<std::filesystem::path>& folders);
    // Something to wait for with poll(), or -1.
    int descriptor() const { return events_.get(); }
    // Takes what has come; whether it was anything.
    bool take();

private:
    Descriptor events_;
    std::map<std::filesystem::path, int> watched_;
};

// The folders in which something happens when one of the files is saved, symbolic links followed.
std::set<std::filesystem::path> folders_of(const std::set<std::filesystem::path>& files);

}
