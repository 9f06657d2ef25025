#include "tools/bench_output.h"

#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {

std::string range_text(const Spread& spread) {
    return count_text(spread.slowest) + " to " + count_text(spread.fastest);
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
