#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/device/cpu/cpu_device.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace nacelle {
namespace {

// A file without a name that is mapped; another process finds it among the open files of the one that made it.
class MappedMemory final : public SharedMemory {
public:
    MappedMemory(Descriptor file, size_t bytes) : file_(std::move(file)), bytes_(bytes) {
        data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (data_ == MAP_FAILED)
            throw Error("shared memory", std::string("cannot be mapped: ") + std::strerror(errno));
    }
    ~MappedMemory() override { ::munmap(data_, bytes_); }
    void* data() const override { return data_; }
    int file() const { return file_.get(); }

private:
    Descriptor file_;
    size_t bytes_;
    void* data_;
};

// A number of a process is of its namespace alone: in another one it is another process, with other files.
std::string pid_namespace() {
    std::error_code none;
    return std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

std::unique_ptr<MappedMemory> made(size_t bytes) {
    Descriptor file(::memfd_create("nacelle", MFD_CLOEXEC));
    if (file.get() < 0 || ::ftruncate(file.get(), off_t(bytes)) != 0)
        throw Error("shared memory", std::string("cannot be made: ") + std::strerror(errno));
    return std::make_unique<MappedMemory>(std::move(file), bytes);
}

}

std::unique_ptr<SharedMemory> CpuDevice::share(size_t bytes, std::string& handle) {
    auto memory = made(bytes);
    handle = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory->file()) + " " +
             std::to_string(bytes) + " " + pid_namespace();
    return memory;
}

std::unique_ptr<SharedMemory> CpuDevice::open_shared(const std::string& handle) {
    std::istringstream words(handle);
    std::string path, its_namespace;
    size_t bytes = 0;
    words >> path >> bytes >> its_namespace;
    if (its_namespace != pid_namespace())
        throw Error("shared memory", "its process is in another PID namespace than this one");
    Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.get() < 0) throw Error(path, std::string("cannot be opened: ") + std::strerror(errno));
    return std::make_unique<MappedMemory>(std::move(file), bytes);
}

std::unique_ptr<SharedMemory> CpuDevice::visible_to_host(size_t bytes) { return made(bytes); }

}
