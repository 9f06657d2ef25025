#include "algorithms/replay/free_memory.h"

#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <string>

namespace replay {

uint64_t free_bytes(bool on_gpu) {
    if (on_gpu) {
        // The engine has the driver loaded already.
        void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        const auto ask =
            driver ? reinterpret_cast<int (*)(size_t*, size_t*)>(dlsym(driver, "cuMemGetInfo_v2"))
                   : nullptr;
        size_t free = 0, all = 0;
        const bool known = ask && ask(&free, &all) == 0;
        if (driver) dlclose(driver);
        return known ? free : ~uint64_t(0);
    }
    std::ifstream file("/proc/meminfo");
    std::string word;
    uint64_t kilobytes = 0;
    while (file >> word)
        if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    return ~uint64_t(0);
}

}
