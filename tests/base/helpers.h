#pragma once
#include "engine/base/error.h"

#include <filesystem>
#include <stdlib.h>
#include <string>
#include <system_error>
#include <unistd.h>

namespace nacelle::test {

// The text of the Error that the call throws, or empty where it throws none.
template <class Call> std::string error_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

// A folder of its own for one test, removed with everything in it.
class Folder final {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "nacelle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw Error(name, "cannot be made");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}
