#include "engine/device/keeping_device.h"

#include "engine/base/error.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace nacelle {
namespace {

// A module with what was looked up in it.
struct LoadedModule {
    std::unique_ptr<Module> module;
    std::map<std::string, Kernel> kernels = {};
    std::map<std::string, Symbol> symbols = {};
};

// Modules that nobody uses, by their binaries; it outlives the device where a module does.
class KeptModules final {
public:
    std::optional<LoadedModule> take(const std::string& binary) {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(binary);
        if (found == kept_.end()) return std::nullopt;
        return std::move(kept_.extract(found).mapped());
    }
    void give(const std::string& binary, LoadedModule module) {
        const std::lock_guard lock(mutex_);
        kept_.emplace(binary, std::move(module));
    }

private:
    std::mutex mutex_;
    std::multimap<std::string, LoadedModule> kept_;
};

class KeptModule final : public Module {
public:
    KeptModule(std::shared_ptr<KeptModules> home, std::string binary, LoadedModule loaded)
        : home_(std::move(home)), binary_(std::move(binary)), loaded_(std::move(loaded)) {}
    ~KeptModule() override { home_->give(binary_, std::move(loaded_)); }

    Kernel kernel(const std::string& name) override {
        const auto found = loaded_.kernels.find(name);
        if (found != loaded_.kernels.end()) return found->second;
        return loaded_.kernels[name] = loaded_.module->kernel(name);
    }
    Symbol symbol(const std::string& name) override {
        const auto found = loaded_.symbols.find(name);
        if (found != loaded_.symbols.end()) return found->second;
        return loaded_.symbols[name] = loaded_.module->symbol(name);
    }

private:
    std::shared_ptr<KeptModules> home_;
    std::string binary_;
    LoadedModule loaded_;
};

class KeepingDevice final : public Device {
public:
    explicit KeepingDevice(std::shared_ptr<Device> device)
        : device_(std::move(device)), zeroing_(device_->stream()) {}
    ~KeepingDevice() override { free_all(); }

    const DeviceInfo& info() const override { return device_->info(); }
    size_t memory_free() override {
        const std::lock_guard lock(mutex_);
        return device_->memory_free() + kept_bytes_;
    }

    void* allocate(size_t bytes) override {
        if (bytes == 0) return nullptr;
        const std::lock_guard lock(mutex_);
        void* memory = take(bytes);
        if (!memory) memory = fresh(bytes);
        sizes_[memory] = bytes;
        return memory;
    }
    void release(void* memory) noexcept override {
        if (!memory) return;
        const std::lock_guard lock(mutex_);
        const auto size = sizes_.extract(memory);
        kept_.emplace(size.mapped(), memory);
        kept_bytes_ += size.mapped();
    }

    std::unique_ptr<Module> load(std::span<const std::byte> binary) override {
        std::string text(reinterpret_cast<const char*>(binary.data()), binary.size());
        std::optional<LoadedModule> loaded = modules_->take(text);
        if (!loaded) loaded = LoadedModule{device_->load(binary)};
        return std::make_unique<KeptModule>(modules_, std::move(text), *std::move(loaded));
    }

    std::unique_ptr<Stream> stream() override {
        std::unique_ptr<Stream> stream = device_->stream();
        const std::lock_guard lock(mutex_);
        streams_.push_back(stream->native());
        return stream;
    }
    std::unique_ptr<Stream> stream_of(void* native) override { return device_->stream_of(native); }
    bool reaches(const void* memory) override { return device_->reaches(memory); }
    std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) override {
        return device_->share(bytes, handle);
    }
    std::unique_ptr<SharedMemory> open_shared(const std::string& handle) override {
        return device_->open_shared(handle);
    }
    std::unique_ptr<SharedMemory> visible_to_host(size_t bytes) override {
        return device_->visible_to_host(bytes);
    }

private:
    // Of work before, some may not have ended.
    void* take(size_t bytes) {
        const auto found = kept_.find(bytes);
        if (found == kept_.end()) return nullptr;
        void* const memory = found->second;
        for (void* const stream : streams_) zeroing_->wait_for(stream);
        zeroing_->fill(memory, 0, bytes);
        zeroing_->synchronize();
        kept_.erase(found);
        kept_bytes_ -= bytes;
        return memory;
    }
    void* fresh(size_t bytes) {
        if (kept_.empty()) return device_->allocate(bytes);
        try {
            return device_->allocate(bytes);
        } catch (const Error&) {
            free_all();
            return device_->allocate(bytes);
        }
    }
    void free_all() noexcept {
        for (const auto& [bytes, memory] : kept_) device_->release(memory);
        kept_.clear();
        kept_bytes_ = 0;
    }

    std::shared_ptr<Device> device_;
    std::unique_ptr<Stream> zeroing_;
    std::shared_ptr<KeptModules> modules_ = std::make_shared<KeptModules>();
    std::mutex mutex_;
    std::vector<void*> streams_;    // of the work that memory may be part of
    std::map<void*, size_t> sizes_;
    std::multimap<size_t, void*> kept_;
    size_t kept_bytes_ = 0;
};

}

std::shared_ptr<Device> keeping(std::shared_ptr<Device> device) {
    return std::make_shared<KeepingDevice>(std::move(device));
}

}
