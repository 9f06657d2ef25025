#pragma once
#include "engine/base/descriptor.h"
#include "engine/config/config.h"
#include "engine/plugins/host_services.h"

namespace nacelle {

using MetricValues = std::vector<std::pair<std::string, double>>;

// An open sink, closed with this object. What fails in it is an Error with its name.
class SinkInstance final {
public:
    // `out` is the run's directory; `config` what the configuration says of the sink.
    SinkInstance(Plugins& plugins, const std::string& name, const std::filesystem::path& out,
                 Json config = Json::object());

    const std::string& name() const { return services_->plugin(); }
    void write(uint64_t step, const MetricValues& metrics);
    // What was written is on its way to the disk when this returns.
    void flush();
    // A run goes on from this step: what was written for later ones is forgotten.
    void rewind(uint64_t step);

private:
    // Destroyed from the last to the first: the object, its host, the library.
    std::shared_ptr<const PluginLibrary> library_;
    const nacelle_sink* functions_;
    std::unique_ptr<HostServices> services_;
    Descriptor out_;    // the directory, where it cannot be told by its name
    std::unique_ptr<void, void (*)(void*)> object_;
};

}
