#include "tools/bench_output.h"

#include "engine/base/number_text.h"

#include <cstdio>

namespace nacelle::tools {

std::string rate_text(double value) {
    const char* unit = "";
    for (const char* next : {" k", " M", " B", " T"})
        if (value >= 1000) {
            value /= 1000;
            unit = next;
        }
    return rounded(value, 3) + unit;
}

std::string range_text(const Spread& spread) {
    return rate_text(spread.slowest) + " to " + rate_text(spread.fastest);
}

void print_machine(RunsOn& on) {
    const DeviceInfo& device = on.device->info();
    std::printf("%s, %d %s%s\n", device.name.c_str(), device.processors,
                on.cuda()                ? "multiprocessors"
                : device.processors == 1 ? "thread"
                                         : "threads",
                device.driver.empty() ? "" : (", " + device.driver).c_str());
}

void add_machine(RunsOn& on, Json& row) {
    const DeviceInfo& device = on.device->info();
    row["backend"] = on.cuda() ? "cuda" : "cpu";
    row["device"] = device.name;
    row["processors"] = device.processors;
    row["driver"] = device.driver;
    row["version"] = NACELLE_VERSION;
}

void add_spread(const Spread& spread, Json& to) {
    to["steps_per_second"] = spread.median;
    to["slowest"] = spread.slowest;
    to["fastest"] = spread.fastest;
}

}
