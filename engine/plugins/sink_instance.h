#pragma once
#include "engine/base/descriptor.h"
#include "engine/config/config.h"
#include "engine/plugins/host_services.h"

namespace nacelle {

using MetricValues = std::vector<std::pair<std::string, double>>;
// The value of the metric with this name; null where there is none.
const double* metric(const MetricValues& metrics, std::string_view name);

// An open sink, closed with this object. Its failures are Errors with its name.
class SinkInstance final {
public:
    // `out` is the run's directory; `config` the sink's settings.
    SinkInstance(Plugins& plugins, const std::string& name, const std::filesystem::path& out,
                 Json config = Json::object());

    const std::string& name() const { return services_->plugin(); }
    void write(uint64_t step, const MetricValues& metrics);
    // Flushes what was written to the disk.
    void flush();
    // Drops what was written for later steps: a run continues from this one.
    void rewind(uint64_t step);

private:
    // Members are destroyed from last to first: the object, its host, the library.
    std::shared_ptr<const PluginLibrary> library_;
    nacelle_sink functions_;
    std::unique_ptr<HostServices> services_;
    Descriptor out_;    // the directory, where its path cannot be passed as text
    std::unique_ptr<void, void (*)(void*)> object_;
};

}
