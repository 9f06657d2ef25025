#pragma once
#include "engine/jit/compile_folder.h"

#include <filesystem>

namespace nacelle::tools {

// A file that a library or another program writes by name. The file grows in a private folder, closed to links of other
// users; at the end the target gets the bytes.
class PrivateOutput final {
public:
    // Throws if nothing can be written beside the target.
    explicit PrivateOutput(std::filesystem::path target);

    const std::filesystem::path& folder() const { return folder_.path(); }
    std::filesystem::path path() const { return folder() / "output"; }
    void take_place() const;

private:
    std::filesystem::path target_;
    CompileFolder folder_;
};

}
