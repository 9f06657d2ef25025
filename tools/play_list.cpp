#include "tools/play_list.h"

#include "engine/arrays/dtype.h"
#include "engine/base/number_text.h"
#include "engine/base/text.h"
#include "tools/output.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

// Only the first and the last ones are shown.
constexpr size_t most_lines = 20;

std::string shape_text(const RecordedArray& array) {
    std::string text;
    for (const int64_t size : array.shape())
        text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

const char* moment_text(Moment moment) {
    return moment == Moment::before ? "before the step"
           : moment == Moment::step ? "of the step"
                                    : "at the end";
}

uint64_t steps_of(const Recording& recording) {
    uint64_t steps = 0;
    for (const EpisodeSummary& one : recording.episodes()) steps += one.steps;
    return steps;
}

std::string returns_text(const EpisodeSummary& one) {
    std::string text;
    for (const double value : one.returns) text += (text.empty() ? "" : " ") + rounded(value, 6);
    return text;
}

}

void list_text(const Recording& recording, const Selection& selection) {
    const RecordingHeader& header = recording.header();
    const std::vector<EpisodeSummary>& episodes = recording.episodes();
    const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf("%s of %s: %zu episodes, %llu steps, %llu bytes\n",
                printable(recording.path().filename().string()).c_str(), header.environment.c_str(),
                episodes.size(), number(steps_of(recording)), number(recording.bytes()));
    for (const std::string& problem : recording.problems()) std::printf("  %s\n", problem.c_str());
    std::printf("\n%-32s %-5s %-16s %s\n", "array", "type", "shape", "");
    for (const size_t i : selection.arrays) {
        const RecordedArray& array = header.arrays[i];
        std::printf("%-32s %-5s %-16s %s\n", array.name().c_str(), dtype_name(array.field.dtype),
                    shape_text(array).c_str(), moment_text(array.moment));
    }
    std::printf("\n%7s %11s %8s %10s  %-10s %s\n", "episode", "environment", "steps", "trained",
                "ended", "return");
    const std::vector<size_t>& shown = selection.episodes;
    for (size_t i = 0; i < shown.size(); ++i) {
        if (shown.size() > 2 * most_lines && i == most_lines) {
            std::printf("%7s\n", "...");
            i = shown.size() - most_lines;
        }
        const EpisodeSummary& one = episodes[shown[i]];
        const std::string trained = one.trained ? std::to_string(*one.trained) : "-";
        std::printf("%7zu %11u %8llu %10s  %-10s %s\n", shown[i], one.environment,
                    number(one.steps), trained.c_str(), one.ended.c_str(),
                    returns_text(one).c_str());
    }
}

void list_json(const Recording& recording, const Selection& selection) {
    Json head = header_json(recording.header());
    head["kind"] = "recording";
    head["file"] = recording.path().string();
    head["bytes"] = recording.bytes();
    head["episodes"] = recording.episodes().size();
    head["steps"] = steps_of(recording);
    head["finished"] = recording.finished();
    head["dropped_bytes"] = recording.dropped();
    head["problems"] = recording.problems();
    Json arrays = Json::array();
    for (const size_t i : selection.arrays) arrays.push_back(head["arrays"][i]);
    head["arrays"] = std::move(arrays);
    print_json(head);
    for (const size_t i : selection.episodes) {
        Json line = summary_json(recording.episodes()[i]);
        line["kind"] = "episode";
        line["episode"] = i;
        print_json(line);
    }
}

}
