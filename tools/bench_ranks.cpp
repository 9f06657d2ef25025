#include "tools/bench_ranks.h"

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "tools/command_line.h"
#include "tools/output.h"
#include "tools/ranks.h"
#include "tools/units.h"

#include <cstdio>
#include <map>
#include <sstream>
#include <sys/mman.h>

namespace nacelle::tools {
namespace {

std::string text_in(int file) {
    std::string text;
    char some[4096];
    ssize_t count = 0;
    while ((count = ::pread(file, some, sizeof some, off_t(text.size()))) > 0)
        text.append(some, size_t(count));
    return text;
}

// The rows that so many ranks print.
std::vector<Json> rows_of(uint32_t ranks, bool json) {
    const Descriptor output(::memfd_create("rows", MFD_CLOEXEC));
    if (output.get() < 0) throw Error("--ranks", "there is no memory for what the ranks print");
    std::vector<std::string> more;
    if (!json) more.push_back("--json");
    if (const int status = run_ranks(ranks, more, output.get())) throw EndWith{status};
    std::istringstream lines(text_in(output.get()));
    std::vector<Json> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(parse_json(line, "rank 0"));
    return rows;
}

std::string part(const Json& row, const char* name) {
    return row.contains(name) && row[name].contains("steps_per_second")
               ? count_text(row[name]["steps_per_second"].get<double>())
               : "-";
}

void print(const Json& row) {
    std::printf(
        "%-15s %5u %7u %10s %10s %10s %7s  %s\n", row["environment"].get<std::string>().c_str(),
        row["ranks"].get<uint32_t>(), row["envs"].get<uint32_t>(),
        count_text(row["steps_per_second"].get<double>()).c_str(), part(row, "rollout").c_str(),
        part(row, "update").c_str(), rounded(row["times"].get<double>(), 3).c_str(),
        row["configuration"].get<std::string>().c_str());
}

}

void bench_ranks(const std::vector<uint32_t>& counts, bool json) {
    std::map<size_t, double> first;    // rate of each row by the first number of ranks
    bool heading = !json;
    for (const uint32_t count : counts) {
        const std::vector<Json> rows = rows_of(count, json);
        for (size_t i = 0; i < rows.size(); ++i) {
            Json row = rows[i];
            row["ranks"] = count;
            if (row.contains("refused")) {
                if (json) print_json(row);
                else std::printf("%s\n", row["refused"].get<std::string>().c_str());
                continue;
            }
            const double rate = row["steps_per_second"].get<double>();
            row["times"] = rate / first.emplace(i, rate).first->second;
            if (std::exchange(heading, false))
                std::printf("%s\n%-15s %5s %7s %10s %10s %10s %7s  %s\n",
                            row["device"].get<std::string>().c_str(), "environment", "ranks",
                            "envs", "steps/s", "rollout/s", "update/s", "times", "configuration");
            if (json) print_json(row);
            else print(row);
        }
        std::fflush(stdout);
    }
}

}
