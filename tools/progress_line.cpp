#include "tools/progress_line.h"

#include "engine/base/number_text.h"
#include "tools/units.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace nacelle::tools {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* form, ...) {
    char text[256];
    va_list values;
    va_start(values, form);
    std::vsnprintf(text, sizeof text, form, values);
    va_end(values);
    return text;
}

// "0.010 (0.003 to 0.031)" for a share, whose interval is not symmetric.
std::string bounded_text(double mean, double interval, const Evaluation::Bounds& bounds) {
    if (!std::isfinite(mean)) return "too large for a float";
    if (std::abs(mean - interval - bounds.low) <= 1e-9 * std::abs(bounds.low) + 1e-12)
        return with_interval(mean, interval);
    return with_bounds(mean, bounds.low, bounds.high);
}

// The mean return, or that of each policy where there are several.
std::string returns_text(const Progress& progress) {
    constexpr std::string_view begin = "policy.", end = ".return";
    std::string text;
    for (const auto& [name, value] : progress.metrics) {
        if (!name.starts_with(begin) || !name.ends_with(end)) continue;
        const std::string policy =
            name.substr(begin.size(), name.size() - begin.size() - end.size());
        text += (text.empty() ? "returns: " : ", ") + policy + " " + return_text(value);
    }
    if (!text.empty()) return text;
    const double* const mean = metric(progress.metrics, "episode.return");
    return mean ? "return " + return_text(*mean) : "return -";
}

std::string losses_text(const Progress& progress) {
    std::string text;
    for (const auto& [name, value] : progress.metrics)
        if (name.starts_with("loss.") || name.find(".loss.") != name.npos)
            text += "  " + name + " " + rounded(value, 3);
    return text;
}

}

std::string time_left_text(double seconds) {
    if (!(seconds < 100 * 3600)) return "-";
    const auto whole = static_cast<long>(std::ceil(seconds));
    return whole < 3600 ? format("%ld:%02ld", whole / 60, whole % 60)
                        : format("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string progress_line(const Progress& progress) {
    const double part = 100.0 * double(progress.steps) / double(progress.total_steps);
    std::string line = format("%5.1f %%  %10llu steps  %6s steps/s  ", std::min(100.0, part),
                              static_cast<unsigned long long>(progress.steps),
                              count_text(progress.steps_per_second).c_str()) +
                       returns_text(progress);
    if (const double* const found = metric(progress.metrics, "evaluation.return"))
        line += "  policy " + return_text(*found);
    return line + "  " + time_left_text(progress.seconds_left) + " left" + losses_text(progress);
}

Json progress_json(const Progress& progress) {
    Json line = {{"kind", "progress"},
                 {"iteration", progress.iteration},
                 {"step", progress.steps},
                 {"total_steps", progress.total_steps},
                 {"seconds_left", progress.seconds_left}};
    for (const auto& [name, value] : progress.metrics) line[name] = value;
    return line;
}

std::string reload_text(const RunReload& reload) {
    return reload.environment + " was reloaded; version " + std::to_string(reload.version) +
           format(" runs from step %llu on, %.2f s after it was saved",
                  static_cast<unsigned long long>(reload.steps), reload.seconds) +
           (reload.restarted ? "; the learner begins anew: " + reload.other_spaces : "");
}

Json reload_json(const RunReload& reload) {
    Json line = {{"kind", "reload"},          {"taken", reload.taken},
                 {"version", reload.version}, {"step", reload.steps},
                 {"seconds", reload.seconds}, {"compile_seconds", reload.compile_seconds}};
    if (!reload.taken) line["why"] = reload.why;
    else line["learner"] = reload.restarted ? "restarted" : "kept";
    if (reload.taken) line["state"] = reload.state_changed ? "changed" : "kept";
    return line;
}

std::string evaluation_text(const Evaluation& found) {
    std::string text =
        format("return %s, length %s over %s (95 %% intervals)",
               bounded_text(found.mean_return, found.return_interval, found.return_bounds).c_str(),
               with_interval(found.mean_length, found.length_interval).c_str(),
               counted(found.episodes, "episode").c_str());
    if (found.unfinished)
        text += format("; %llu of them were cut after %u steps",
                       static_cast<unsigned long long>(found.unfinished), Evaluator::most_steps);
    if (found.policies.size() > 1)
        for (const Evaluation::Policy& policy : found.policies)
            text += format(
                "\n  %-20s return %s for an agent", policy.name.c_str(),
                bounded_text(policy.mean_return, policy.return_interval, policy.return_bounds)
                    .c_str());
    for (const Evaluation::Log& log : found.log)
        text += format("\n  %-20s %s", log.name.c_str(),
                       bounded_text(log.mean, log.interval, log.bounds).c_str());
    return text;
}

void add_evaluation(const Evaluation& found, Json& to) {
    to["episodes"] = found.episodes;
    to["unfinished"] = found.unfinished;
    to["mean_return"] = found.mean_return;
    to["return_interval"] = found.return_interval;
    to["return_bounds"] = {found.return_bounds.low, found.return_bounds.high};
    to["mean_length"] = found.mean_length;
    to["length_interval"] = found.length_interval;
    for (const Evaluation::Log& log : found.log)
        to["log"][log.name] = {{"mean", log.mean},
                               {"interval", log.interval},
                               {"low", log.bounds.low},
                               {"high", log.bounds.high}};
    if (found.policies.size() < 2) return;
    for (const Evaluation::Policy& policy : found.policies)
        to["policies"][policy.name] = {{"mean_return", policy.mean_return},
                                       {"return_interval", policy.return_interval}};
}

}
