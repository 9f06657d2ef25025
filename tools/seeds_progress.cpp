#include "tools/seeds_progress.h"

#include "engine/base/seconds_since.h"
#include "tools/progress_line.h"
#include "tools/units.h"

#include <algorithm>
#include <cstdio>

namespace nacelle::tools {
namespace {

constexpr std::chrono::milliseconds between_lines{100};

struct Extent {
    double sum = 0, least = 0, most = 0;
    int count = 0;

    void take(double value) {
        least = count ? std::min(least, value) : value;
        most = count ? std::max(most, value) : value;
        sum += value;
        ++count;
    }
    std::string text() const {
        std::string words = return_text(sum / count);
        if (count > 1) words += " (" + return_text(least) + " to " + return_text(most) + ")";
        return words;
    }
};

}

void SeedsProgress::show(size_t index, const Progress& progress) {
    Run& run = runs_[index];
    run.share = std::min(1.0, double(progress.steps) / double(progress.total_steps));
    run.steps_per_second = progress.steps_per_second;
    for (const auto& [name, value] : progress.metrics) {
        if (name == "episode.return") run.returned = value;
        if (name == "evaluation.return") run.evaluated = value;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!start_) {
        start_ = now;
        share_at_start_ = share();
    }
    if (now - shown_ < between_lines) return;
    shown_ = now;
    line_.show(text());
}

void SeedsProgress::done(size_t index) {
    Run& run = runs_[index];
    run.over = true;
    run.share = 1;
    run.steps_per_second = 0;
    line_.show(text());
}

double SeedsProgress::share() const {
    double sum = 0;
    for (const Run& run : runs_) sum += run.share;
    return sum / double(runs_.size());
}

std::string SeedsProgress::text() const {
    double rate = 0;
    int over = 0;
    Extent returned, evaluated;
    for (const Run& run : runs_) {
        rate += run.steps_per_second;
        over += run.over;
        if (run.returned) returned.take(*run.returned);
        if (run.evaluated) evaluated.take(*run.evaluated);
    }
    const double share = this->share(), since = share - share_at_start_;
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "%d of %zu seeds done  %5.1f %%  %6s steps/s", over,
                  runs_.size(), 100 * share, count_text(rate).c_str());
    std::string line = numbers;
    if (returned.count) line += "  return " + returned.text();
    if (evaluated.count) line += "  policy " + evaluated.text();
    if (!start_ || since <= 0) return line;
    return line + "  " + time_left_text(seconds_since(*start_) * (1 - share) / since) + " left";
}

}
