// What a host reads of the episodes that have ended, and of the first number that was not finite.
#include "engine/base/error.h"
#include "engine/env/environment.h"

#include <cmath>
#include <cstring>

namespace nacelle {

Totals Environment::take_totals() {
    const uint64_t groups = (uint64_t(settings_.count) + totals_group - 1) / totals_group;
    const size_t width = sums_.bytes() / sizeof(double) / groups;
    const TotalsArgs args{.sums = static_cast<double*>(sums_.data()),
                          .logs = static_cast<uint32_t>(width - 4)};
    launch(sum_totals_, thread_each(groups), args_of(args));
    std::vector<double> sums(sums_.bytes() / sizeof(double));
    on_->stream->to_host(sums.data(), sums_.data(), sums_.bytes());
    on_->stream->synchronize();
    std::vector<double> whole(width);
    for (size_t i = 0; i < sums.size(); ++i) whole[i % width] += sums[i];
    Totals totals;
    totals.episodes = whole[0];
    const double n = std::max(1.0, whole[0]);
    totals.mean_return = whole[1] / n;
    totals.return_deviation =
        std::sqrt(std::max(0.0, whole[2] / n - totals.mean_return * totals.mean_return));
    totals.mean_length = whole[3] / n;
    size_t at = 4;
    for (const Field& field : schema().fields()) {
        if (field.role != Role::total || !std::string_view(field.name).starts_with("total.log."))
            continue;
        for (uint32_t i = 0; i < field.count; ++i, ++at)
            totals.log.emplace_back(std::string(field.name + std::strlen("total.log.")) +
                                        (field.count > 1 ? "." + std::to_string(i) : ""),
                                    whole[at] / n);
    }
    return totals;
}

void Environment::check_finite() {
    uint64_t bad = 0;
    on_->stream->to_host(&bad, &beat()->bad, sizeof bad);
    on_->stream->synchronize();
    if (bad != ~uint64_t(0)) report_bad(bad & 1 ? "obs" : "reward", bad);
}

void Environment::report_bad(const char* array, uint64_t key) {
    const uint64_t now = tick(), row = (key & 0xffffffffu) >> 1;
    const uint64_t step = now - ((now - (key >> 32)) & 0xffffffffu);
    const std::vector<double> values = arrays_[array].numbers();
    const size_t width = values.size() / settings_.count;
    std::string found;
    for (size_t i = 0; i < width; ++i) {
        const double value = values[row * width + i];
        if (std::isfinite(value)) continue;
        found = " is " +
                std::string(std::isnan(value) ? "not a number"
                            : value > 0       ? "infinite"
                                              : "minus infinity") +
                (width > 1 ? " in column " + std::to_string(i) : "");
        break;
    }
    throw Error(name_, std::string(array) + " of environment " + std::to_string(row) +
                           (found.empty() ? " is not finite" : found) + " since step " +
                           std::to_string(step));
}

}
