#pragma once
#include <filesystem>
#include <memory>
#include <string>

namespace nacelle {

// An open shared object (Boost.DLL underneath), closed with the last copy. Its symbols are bound at
// once and stay its own; throws with the loader's reason.
class SharedLibrary final {
public:
    // A path, or a bare name such as "libcuda.so.1" that the system's loader searches for.
    explicit SharedLibrary(const std::filesystem::path& path);
    // The symbol's address, or null.
    void* find(const std::string& symbol) const;
    template <class Function> Function* function(const std::string& symbol) const {
        return reinterpret_cast<Function*>(find(symbol));
    }

private:
    std::shared_ptr<void> library_;
};

}
