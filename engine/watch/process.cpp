#include "engine/watch/process.h"

#include "engine/base/descriptor.h"
#include "engine/check/author_line.h"
#include "engine/config/describe.h"
#include "engine/env/find_environment.h"
#include "engine/jit/source_watch.h"
#include "engine/supervised/child.h"
#include "engine/supervised/crash_place.h"
#include "engine/watch/data_files.h"
#include "engine/watch/local_viewer.h"
#include "engine/watch/printed_lines.h"
#include "engine/watch/problem.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace nacelle {
namespace {

// The engine's time between a compile and an author's functions: opening a device, reading a table.
constexpr double least_beside_compiles = 5;
constexpr std::chrono::milliseconds between_polls{50};
constexpr size_t most_lasting_commands = 1000;

}

// Receives the child's lines: sections and crash reports.
class WatchedProcess::Listener final {
public:
    explicit Listener(WatchedProcess& owner) : owner_(owner) {}

    double take(const std::string& line) {
        const size_t space = std::min(line.find(' '), line.size());
        const std::string section = line.substr(0, space),
                          json = line.substr(std::min(space + 1, line.size()));
        if (line.starts_with('{')) {
            if (const auto crash = read_crash(try_parse_json(line).value_or(Json())))
                crash_ = *crash;
            return silence_;
        }
        // A process that was killed, or whose memory was overwritten, may have sent anything.
        if (json.find('\0') != json.npos || !Json::accept(json)) return silence_;
        static const std::set<std::string> sections = {"environment", "parameters", "status",
                                                       "curves",      "news",       "arrays",
                                                       "picture",     "refused",    "recording"};
        if (section == "busy") {
            const double beside = std::max(owner_.settings_.timeout, least_beside_compiles);
            silence_ = json == "true" ? compile_patience : beside;
        } else if (section == "done") done_ = true;
        else if (section == "broken") broken_ = broken_text(json);
        else if (sections.contains(section)) {
            // After its first line it steps, except during announced compiles.
            silence_ = owner_.settings_.timeout;
            if (section == "picture") owner_.looks_ = false;
            if (section == "environment") owner_.read_source();    // a version was taken
            owner_.sections_.put(section, json);
        }
        return silence_;
    }

    // The error; empty after a normal end.
    std::string verdict(const ChildEnd& end) const {
        if (end.how == ChildEnd::exited && end.status == 0 && done_) return {};
        if (!broken_.empty()) return broken_;
        const std::string at =
            crash_.offset ? author_line(crash_.object, crash_.offset, owner_.settings_.author)
                          : std::string();
        const std::string place =
            (at.empty() ? owner_.settings_.author.filename().string() : at) + ": ";
        if (end.how == ChildEnd::stuck)
            return place + "a step, or reset() or observe() behind it, has not come back after " +
                   number_text(owner_.settings_.timeout) +
                   " s: look for a loop whose condition stays true, or raise --timeout";
        if (end.how == ChildEnd::exited && end.status == 0)
            return place +
                   "the process that stepped it has ended by exit(0): an environment must not "
                   "call exit()";
        const std::string how = end.how == ChildEnd::killed_by_signal
                                    ? ::strsignal(end.status)
                                    : "status " + std::to_string(end.status);
        return place + "the process that stepped it has ended (" + how +
               "): 'nacelle check' names most causes, such as an index outside its array";
    }

private:
    static std::string broken_text(const std::string& json) {
        const Json value = try_parse_json(json).value_or(Json());
        return value.is_string() ? value.get<std::string>() : std::string();
    }

    WatchedProcess& owner_;
    double silence_ = compile_patience;    // until it steps
    std::string broken_;
    CrashPlace crash_;
    bool done_ = false;    // it ended normally
};

WatchedProcess::WatchedProcess(Sections& sections, WatchedSettings settings)
    : sections_(sections),
      settings_(std::move(settings)),
      ours_(stranger_in(settings_.author).reason.empty()) {
    for (const std::string& command : settings_.first_commands) keep(command);
    thread_ = std::thread([this] { work(); });
}

WatchedProcess::~WatchedProcess() {
    ends_ = true;
    write_line("{\"do\":\"quit\"}");
    // A child that is stuck would never end: it gets a moment, then SIGKILL.
    for (int i = 0; i < 20 && !over_; ++i) std::this_thread::sleep_for(between_polls);
    {
        const std::lock_guard lock(mutex_);
        if (!over_ && child_ > 0) ::kill(-child_, SIGKILL);
    }
    thread_.join();
}

std::string WatchedProcess::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

bool WatchedProcess::write_line(const std::string& line) {
    const std::string whole = line + "\n";
    const std::lock_guard lock(mutex_);
    return channel_ >= 0 && ::send(channel_, whole.data(), whole.size(),
                                   MSG_DONTWAIT | MSG_NOSIGNAL) == ssize_t(whole.size());
}

void WatchedProcess::send(const std::string& command) {
    // A line break would begin a second command.
    if (command.find('\n') != command.npos) return;
    keep(command);
    write_line(command);
}

// Keeps the newest command on each subject (a parameter, the pace, the environment that is shown) for a restart.
void WatchedProcess::keep(const std::string& command) {
    const Json parsed = read_command(command);
    if (parsed.is_null()) return;
    std::string about = parsed["do"];
    if (about == "quit" || about == "reset") return;
    if (about == "play" || about == "step") about = "pause";
    if (about == "param") about += " " + json_text(parsed.value("name", Json()));
    const std::lock_guard lock(mutex_);
    if (lasting_commands_.size() < most_lasting_commands || lasting_commands_.contains(about))
        lasting_commands_[about] = command;
    asked_ = true;
}

void WatchedProcess::write_lasting_commands() {
    std::map<std::string, std::string> commands;
    {
        const std::lock_guard lock(mutex_);
        commands = lasting_commands_;
    }
    for (const auto& [about, command] : commands)
        if (command.find("\"step\"") == command.npos) write_line(command);
        else write_line("{\"do\":\"pause\"}");
}

// A look that reaches nobody, since the process does not run yet, is as if nobody had looked: a page would wait for its
// first picture for ever.
void WatchedProcess::look() {
    if (!looks_.exchange(true) && !write_line("look")) looks_ = false;
}

void WatchedProcess::broken(const std::string& text) {
    sections_.put(
        "news", json_text({{"problem", problem_json(text)}, {"reload", nullptr}, {"reloads", 0}}));
    sections_.put("status", json_text({{"mode", "watch"}, {"state", "broken"}, {"rate", 0}}));
    const std::lock_guard lock(mutex_);
    failure_ = text;
}

void WatchedProcess::work() {
    read_source();
    while (!ends_) {
        looks_ = asked_ = false;
        const std::string wrong = follow_one();
        if (wrong.empty() || ends_) break;
        broken(wrong);
        if (!settings_.waits) break;
        while (!ends_) {
            wait_for_save();
            read_source();
            const std::string refused = ours_ ? refused_version(known_) : "";
            if (refused.empty()) break;
            broken(refused);
        }
        const std::lock_guard lock(mutex_);
        failure_.clear();
    }
    over_ = true;
}

// Follows one process to its end; returns the error.
std::string WatchedProcess::follow_one() {
    Listener listener(*this);
    PrintedLines prints(sections_);
    std::optional<Descriptor> kept;    // its number is nobody else's until nobody sends there
    const auto set = [this](pid_t child, int channel) {
        const std::lock_guard lock(mutex_);
        child_ = child;
        channel_ = channel;
    };
    std::string wrong;
    try {
        const ChildEnd end =
            run_child(settings_.command, compile_patience,
                      {.started =
                           [&](pid_t child, int channel) {
                               kept.emplace(::fcntl(channel, F_DUPFD_CLOEXEC, 3));
                               set(child, kept->get());
                               write_lasting_commands();
                           },
                       .said = [&](const std::string& line) { return listener.take(line); },
                       .printed = [&](const std::string& text) { prints.add(text); }});
        set(0, -1);
        wrong = listener.verdict(end);
    } catch (const std::exception& error) {
        set(0, -1);
        wrong = error.what();
    }
    prints.show(true);
    return wrong;
}

// The failed text is the one from before the process got it: a save may come while it is stuck.
void WatchedProcess::read_source() {
    try {
        known_ = read_closure(settings_.author);
    } catch (const std::exception&) {
        known_.clear();    // it is not there: whatever comes is news
    }
}

void WatchedProcess::wait_for_save() {
    std::atomic<bool> saved = false;
    const SourceWatch watch(settings_.author, known_,
                            [&saved](const SavedSource&) { saved = true; });
    DataFiles data;
    data.follow(settings_.data);
    asked_ = false;
    while (!saved && !ends_ && !asked_ && data.saved().empty())
        std::this_thread::sleep_for(between_polls);
}

}
