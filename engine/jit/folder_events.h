#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>
#include <map>
#include <set>

namespace nacelle {

// Events of the kernel (inotify) about changes in folders. It watches folders because an editor that saves by rename
// puts another file under the name: a watch on the old file would never fire again.
class FolderEvents final {
public:
    FolderEvents();

    // False where the kernel gives no events for one of the folders.
    bool watch(const std::set<std::filesystem::path>& folders);
    // A descriptor for poll(), or -1.
    int descriptor() const { return events_.get(); }
    // Reads all pending events; false where there were none.
    bool take();

private:
    Descriptor events_;
    std::map<std::filesystem::path, int> watched_;
};

// The folders that change when one of the files is saved; symbolic links are followed.
std::set<std::filesystem::path> folders_of(const std::set<std::filesystem::path>& files);

}
