#include "engine/device/keeping_device.h"

#include "engine/base/error.h"

#include <functional>
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

    bool has_kernel(const std::string& name) override {
        return loaded_.kernels.contains(name) || loaded_.module->has_kernel(name);
    }
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

// Streams, of which none ends before the last of this: memory that is released may be part of their work.
class KeptStreams final {
public:
    std::unique_ptr<Stream> take(Device& device) {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            std::unique_ptr<Stream> stream = device.stream();
            handles_.push_back(stream->native());
            return stream;
        }
        std::unique_ptr<Stream> stream = std::move(free_.back());
        free_.pop_back();
        return stream;
    }
    void give(std::unique_ptr<Stream> stream) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(stream));
    }
    std::vector<void*> handles() {
        const std::lock_guard lock(mutex_);
        return handles_;
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Stream>> free_;
    std::vector<void*> handles_;
};

class KeptStream final : public Stream {
public:
    KeptStream(std::shared_ptr<KeptStreams> home, Device& device)
        : home_(std::move(home)), stream_(home_->take(device)) {}
    // A capture that was not ended ends here: the next one who has this stream knows nothing of it.
    ~KeptStream() override {
        try {
            if (capturing_) stream_->end_capture();
        } catch (const std::exception&) {    // the first failure was reported
        }
        home_->give(std::move(stream_));
    }

    void launch(const Kernel& kernel, const LaunchShape& shape,
                std::span<const std::byte> args) override {
        stream_->launch(kernel, shape, args);
    }
    void to_device(void* target, const void* host, size_t bytes) override {
        stream_->to_device(target, host, bytes);
    }
    void to_host(void* host, const void* source, size_t bytes) override {
        stream_->to_host(host, source, bytes);
    }
    void copy(void* target, const void* source, size_t bytes) override {
        stream_->copy(target, source, bytes);
    }
    void fill(void* target, uint8_t value, size_t bytes) override {
        stream_->fill(target, value, bytes);
    }
    void synchronize() override { stream_->synchronize(); }
    void call(std::function<void()> put) override { stream_->call(std::move(put)); }
    void begin_capture() override {
        stream_->begin_capture();
        capturing_ = true;
    }
    std::unique_ptr<Graph> end_capture() override {
        capturing_ = false;
        return stream_->end_capture();
    }
    void replay(Graph& graph) override { stream_->replay(graph); }
    double time(const std::function<void()>& work) override { return stream_->time(work); }
    void* native() override { return stream_->native(); }
    void wait_for(void* native) override { stream_->wait_for(native); }
    void make_wait(void* native) override { stream_->make_wait(native); }

private:
    std::shared_ptr<KeptStreams> home_;
    std::unique_ptr<Stream> stream_;
    bool capturing_ = false;
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
        return std::make_unique<KeptStream>(streams_, *device_);
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
        for (void* const stream : streams_->handles()) zeroing_->wait_for(stream);
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
    std::shared_ptr<KeptStreams> streams_ = std::make_shared<KeptStreams>();
    std::mutex mutex_;
    std::map<void*, size_t> sizes_;
    std::multimap<size_t, void*> kept_;
    size_t kept_bytes_ = 0;
};

}

std::shared_ptr<Device> keeping(std::shared_ptr<Device> device) {
    return std::make_shared<KeepingDevice>(std::move(device));
}

}
