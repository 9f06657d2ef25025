#include "tools/watch_terminal.h"

#include "engine/base/number_text.h"
#include "engine/base/text.h"
#include "engine/config/config.h"

#include <algorithm>
#include <cstdio>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace nacelle::tools {
namespace {

constexpr size_t most_parameters = 12, most_arrays = 14, most_prints = 3;

termios& usual() {
    static termios settings;    // of the one terminal that a process has
    return settings;
}

Json read(const Sections& sections, const char* section) {
    return try_parse_json(sections.section(section)).value_or(Json());
}

// A list in short: its first numbers, and their count.
std::string values_words(const Json& values) {
    std::string words;
    for (size_t i = 0; i < values.size() && i < 8; ++i)
        words += (i ? "  " : "") + (values[i].is_number() ? rounded(values[i], 5) : "nan");
    return values.size() > 8 ? words + "  ... of " + std::to_string(values.size()) : words;
}

void add_lines(std::vector<std::string>& to, const std::string& text) {
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
        to.push_back(text.substr(begin, end - begin));
    to.push_back(text.substr(begin));
}

// Cuts a line to the width, since a wrapped one could not be rewritten; never within a UTF-8 character.
std::string fitting(std::string line, size_t width) {
    size_t letters = 0, at = 0;
    for (; at < line.size(); ++at)
        if ((static_cast<unsigned char>(line[at]) & 0xc0) != 0x80 && letters++ == width) break;
    line.resize(at);
    return line;
}

winsize terminal_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    return size;
}

}

std::string status_words(const Sections& sections) {
    const Json status = read(sections, "status");
    if (!status.is_object()) return "starts";
    std::string words = status.value("state", "");
    if (words == "broken") return words;
    const double rate = status.value("rate", 0.0);
    char text[64];
    // There is no rate for a very short time.
    if (rate > 0) {
        std::snprintf(text, sizeof text, "  %.*f %ssteps/s", rate >= 1e5 ? 2 : 0,
                      rate >= 1e5 ? rate * 1e-6 : rate, rate >= 1e5 ? "M " : "");
        words += text;
    }
    words += "  step " + std::to_string(status.value("step", uint64_t(0)));
    if (status.contains("return"))
        words +=
            "  return " + rounded(status["return"], 5) + "  length " + rounded(status["length"], 5);
    return words;
}

std::string news_words(const Sections& sections) {
    const Json news = read(sections, "news");
    if (!news.is_object()) return {};
    if (news["problem"].is_object()) return news["problem"].value("text", "");
    if (news.contains("data") && news["data"].is_string()) return news["data"];
    if (!news["reload"].is_object()) return {};
    char text[96];
    std::snprintf(text, sizeof text, "version %llu runs, %.2f s after it was saved",
                  static_cast<unsigned long long>(news["reload"].value("version", uint64_t(0))),
                  news["reload"].value("seconds", 0.0));
    return text;
}

WatchTerminal::WatchTerminal(Sections& sections, WatchedProcess& process, std::string title)
    : sections_(sections), process_(process), title_(std::move(title)) {
    ::tcgetattr(STDIN_FILENO, &usual());
    termios raw = usual();
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO);    // Ctrl-C stays what it is
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    std::printf("\033[?25l");
}

WatchTerminal::~WatchTerminal() {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &usual());
    std::printf("\033[?25h");
    std::fflush(stdout);
}

std::vector<std::string> WatchTerminal::lines() {
    std::vector<std::string> all;
    const Json environment = read(sections_, "environment"),
               parameters = read(sections_, "parameters"), arrays = read(sections_, "arrays"),
               status = read(sections_, "status");
    if (environment.is_object())
        all.push_back(environment.value("name", "") + " on the " +
                      environment.value("backend", "") + ", " +
                      std::to_string(environment.value("envs", 0)) +
                      " environments, actions: " + environment.value("policy", ""));
    if (!title_.empty()) all.push_back(title_);
    all.push_back(status_words(sections_));
    if (status.is_object()) paused_ = status.value("state", "") == "paused";
    if (const std::string news = news_words(sections_); !news.empty()) add_lines(all, news);
    const Json recording = read(sections_, "recording");
    if (recording.is_array() && !recording.empty())
        all.push_back("records in " + recording.back().value("file", "") + ": " +
                      json_text(recording.back()["episodes"]) + " episodes");
    if (parameters.is_array() && !parameters.empty()) {
        chosen_ = std::min(chosen_, parameters.size() - 1);
        const size_t first = chosen_ < most_parameters ? 0 : chosen_ - most_parameters + 1;
        for (size_t i = first; i < std::min(parameters.size(), first + most_parameters); ++i)
            all.push_back((i == chosen_ ? "> " : "  ") + parameters[i].value("name", "") + " " +
                          json_text(parameters[i]["value"]));
    }
    if (arrays.is_array())
        for (size_t i = 0; i < std::min(arrays.size(), most_arrays); ++i)
            all.push_back("    " + arrays[i].value("name", "") + "  " +
                          values_words(arrays[i]["values"]));
    const Json output = read(sections_, "output");
    if (output.is_object() && output.value("lines", Json()).is_array()) {
        const Json& lines = output["lines"];
        for (size_t i = lines.size() - std::min(lines.size(), most_prints); i < lines.size(); ++i)
            all.push_back("prints: " + lines[i].get<std::string>());
    }
    all.push_back("space: pause  s: one step  arrows: choose and change a parameter  q: quit");
    return all;
}

bool WatchTerminal::turn() {
    const winsize size = terminal_size();
    process_.look();
    std::vector<std::string> all = lines();
    // Lines that do not fit above the last one are left out.
    const size_t most = std::max<size_t>(size.ws_row, 3) - 1;
    if (all.size() > most) all.erase(all.begin() + ptrdiff_t(most) - 1, all.end() - 1);
    std::string text = shown_ ? "\r\033[" + std::to_string(shown_) + "A" : "";
    for (const std::string& line : all)
        text += "\r\033[K" + fitting(printable(line), size.ws_col - size_t(1)) + "\n";
    text += "\033[J";
    shown_ = all.size();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    pollfd watched{STDIN_FILENO, POLLIN, 0};
    if (::poll(&watched, 1, 100) <= 0) return true;
    char keys[64];
    const ssize_t count = ::read(STDIN_FILENO, keys, sizeof keys);
    if (count <= 0) return count == 0 && (watched.revents & POLLHUP) == 0;
    const std::string typed(keys, size_t(count));
    for (size_t i = 0; i < typed.size();) {
        const size_t length = typed.compare(i, 2, "\033[") == 0 ? 3 : 1;
        if (!take_key(typed.substr(i, length))) return false;
        i += length;
    }
    return true;
}

bool WatchTerminal::take_key(const std::string& key) {
    if (key == "q") return false;
    if (key == " ") process_.send(paused_ ? R"({"do":"play"})" : R"({"do":"pause"})");
    else if (key == "s") process_.send(R"({"do":"step"})");
    else if (key == "\033[A") chosen_ -= chosen_ > 0;
    else if (key == "\033[B") ++chosen_;
    else if (key == "\033[C") change_parameter(1);
    else if (key == "\033[D") change_parameter(-1);
    return true;
}

// A twentieth of the range, 1 for whole numbers; flags toggle.
void WatchTerminal::change_parameter(int by) {
    const Json parameters = read(sections_, "parameters");
    if (!parameters.is_array() || chosen_ >= parameters.size()) return;
    const Json& one = parameters[chosen_];
    const std::string kind = one.value("kind", "");
    Json value;
    if (kind == "flag") value = !one["value"].get<bool>();
    else if (kind == "whole") value = one["value"].get<int64_t>() + by;
    else if (kind == "number" && one["value"].is_number()) {
        const double each = (one.value("high", 1.0) - one.value("low", 0.0)) / 20;
        value = std::stod(rounded(one["value"].get<double>() + by * each, 5));
    } else return;
    process_.send(json_text({{"do", "param"}, {"name", one["name"]}, {"value", value}}));
}

}
