#pragma once
#include "engine/config/config.h"

#include <functional>
#include <map>

namespace nacelle {

// One reading of a run's metrics. A value that is not finite is left out.
struct MetricReading {
    uint64_t step = 0;
    std::map<std::string, double> values;
};

// The file of a sink with these settings; that of one which names none has its own name.
std::string sink_file(const std::string& name, const Json& settings);
// The file that the run's sink `jsonl`, or else `csv`, has written. Throws where its settings name neither, or where
// there is no such file yet.
std::filesystem::path metrics_file(const std::filesystem::path& run, const Json& configuration);
// Passes all readings of such a file, in order. Lines that are no readings are passed over.
void read_metrics(const std::filesystem::path& file,
                  const std::function<void(const MetricReading&)>& take);
// The last reading alone, without reading the whole file; nothing where there is none.
std::optional<MetricReading> last_reading(const std::filesystem::path& file);

}
