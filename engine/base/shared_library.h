#pragma once
#include <filesystem>
#include <memory>
#include <string>

namespace nacelle {

// An open shared object (Boost.DLL underneath), closed with its last copy. Symbols are bound at once and stay local.
// Throws with the loader's reason.
class SharedLibrary final {
public:
    // A path, or a bare name such as "libcuda.so.1", which the loader searches for.
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
