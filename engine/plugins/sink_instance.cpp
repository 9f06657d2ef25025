#include "engine/plugins/sink_instance.h"

#include "engine/plugins/config_text.h"

#include "engine/base/text.h"

#include <fcntl.h>

namespace nacelle {
namespace {

// Opened where the path is not UTF-8, which the configuration of a plugin cannot hold.
int opened(const std::filesystem::path& out) {
    return is_valid_utf8(out.string()) ? -1 : ::open(out.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

}

const double* metric(const MetricValues& metrics, std::string_view name) {
    for (const auto& [key, value] : metrics)
        if (key == name) return &value;
    return nullptr;
}

SinkInstance::SinkInstance(Plugins& plugins, const std::string& name,
                           const std::filesystem::path& out, Json config)
    : library_(plugins.find({"sink/1", name})),
      functions_(library_->table<nacelle_sink>({"sink/1", name},
                                               {{"create", offsetof(nacelle_sink, create)},
                                                {"write", offsetof(nacelle_sink, write)},
                                                {"destroy", offsetof(nacelle_sink, destroy)}})),
      services_(std::make_unique<HostServices>(name, plugins.log())),
      out_(opened(out)),
      object_(nullptr, functions_.destroy) {
    config_text(name, config);    // throws where it cannot take the directory
    config["out"] = out_.get() < 0 ? out.string() : "/proc/self/fd/" + std::to_string(out_.get());
    const std::string text = config_text(name, config);
    services_->call(HostServices::CallContext::preparing, "create", [&] {
        object_.reset(functions_.create(services_->table(), text.c_str()));
        return object_ != nullptr;
    });
}

void SinkInstance::write(uint64_t step, const MetricValues& metrics) {
    std::vector<const char*> names;
    std::vector<double> values;
    for (const auto& [name, value] : metrics) {
        names.push_back(name.c_str());
        values.push_back(value);
    }
    services_->call(HostServices::CallContext::running, "write", [&] {
        return functions_.write(object_.get(), step, names.data(), values.data(),
                                static_cast<uint32_t>(names.size())) == NACELLE_OK;
    });
}

void SinkInstance::flush() {
    if (!functions_.flush) return;
    services_->call(HostServices::CallContext::running, "flush",
                    [&] { return functions_.flush(object_.get()) == NACELLE_OK; });
}

void SinkInstance::rewind(uint64_t step) {
    if (!functions_.rewind) return;
    services_->call(HostServices::CallContext::running, "rewind",
                    [&] { return functions_.rewind(object_.get(), step) == NACELLE_OK; });
}

}
