#include "engine/watch/process.h"

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/check/child.h"
#include "engine/check/place.h"
#include "engine/jit/source_watch.h"
#include "engine/watch/board_viewer.h"
#include "engine/watch/problem.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace nacelle {
namespace {

// A compiler on a busy machine may take this long.
constexpr double patience = 600;
constexpr std::chrono::milliseconds between_looks{50};
constexpr size_t most_wishes = 1000;

}

// Takes the child's lines: sections for the board, and its last words.
class WatchedProcess::Listener final {
public:
    explicit Listener(WatchedProcess& owner) : owner_(owner) {}

    double take(const std::string& line) {
        if (line.starts_with('{')) {
            take_last_words(Json::parse(line, nullptr, false));
            return silence_;
        }
        const size_t space = line.find(' ');
        const std::string section = line.substr(0, space);
        static const std::set<std::string> sections = {"environment", "parameters", "status",
                                                       "curves",      "news",       "arrays",
                                                       "picture",     "refused",    "recording"};
        if (section == "busy") silence_ = patience;
        else if (section == "pid" || section == "broken") {
            const Json value = Json::parse(line.substr(space + 1), nullptr, false);
            if (section == "broken" && value.is_string()) broken_ = value;
            if (section == "pid" && value.is_number_integer()) {
                const std::lock_guard lock(owner_.mutex_);
                owner_.child_ = value.get<long>();
            }
        } else if (space != line.npos && sections.contains(section)) {
            // From its first word on it steps, but for what it announces.
            silence_ = owner_.settings_.timeout;
            if (section == "picture") owner_.looks_ = false;
            if (section == "environment") owner_.read_source();    // a version was taken
            owner_.board_.put(section, line.substr(space + 1));
        }    // else an author's own output
        return silence_;
    }

    // What was wrong; empty where it ended in order.
    std::string verdict(const ChildEnd& end) const {
        if (end.how == ChildEnd::exited && end.status == 0) return {};
        if (!broken_.empty()) return broken_;
        const std::string at =
            offset_ ? author_place(object_, offset_, owner_.settings_.author) : std::string();
        const std::string place =
            (at.empty() ? owner_.settings_.author.filename().string() : at) + ": ";
        if (end.how == ChildEnd::stuck)
            return place + "a step has not come back after " +
                   std::to_string(int(owner_.settings_.timeout)) +
                   " s: look for a loop whose condition stays true, or raise --timeout";
        const std::string how = end.how == ChildEnd::killed_by_signal
                                    ? ::strsignal(end.status)
                                    : "status " + std::to_string(end.status);
        return place + "the process that stepped it has ended (" + how +
               "): 'nacelle check' names most causes, such as an index outside its array";
    }

private:
    void take_last_words(const Json& words) {
        if (!words.is_object() || !words.contains("signal")) return;
        object_ = words.value("object", "");
        offset_ = words.value("offset", uint64_t(0));
    }

    WatchedProcess& owner_;
    double silence_ = patience;    // until it steps
    std::string broken_, object_;
    uint64_t offset_ = 0;
};

WatchedProcess::WatchedProcess(Board& board, WatchedSettings settings)
    : board_(board), settings_(std::move(settings)) {
    for (const std::string& wish : settings_.wishes) keep(wish);
    thread_ = std::thread([this] { work(); });
}

WatchedProcess::~WatchedProcess() {
    ends_ = true;
    write_line("{\"do\":\"quit\"}");
    // One that is stuck would be waited for.
    for (int i = 0; i < 20 && !over_; ++i) std::this_thread::sleep_for(between_looks);
    {
        const std::lock_guard lock(mutex_);
        if (!over_ && child_ > 0) ::kill(pid_t(-child_), SIGKILL);
    }
    thread_.join();
}

std::string WatchedProcess::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

void WatchedProcess::write_line(const std::string& line) {
    const std::string whole = line + "\n";
    const std::lock_guard lock(mutex_);
    if (commands_ >= 0) ::send(commands_, whole.data(), whole.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void WatchedProcess::send(const std::string& command) {
    // A line break would begin another one.
    if (command.find('\n') != command.npos) return;
    keep(command);
    write_line(command);
}

// The last word on each thing: a parameter, the pace, the environment that is looked at.
void WatchedProcess::keep(const std::string& command) {
    const Json wish = read_command(command);
    if (wish.is_null()) return;
    std::string about = wish["do"];
    if (about == "quit" || about == "reset") return;
    if (about == "play" || about == "step") about = "pause";
    if (about == "param") about += " " + wish.value("name", Json()).dump();
    const std::lock_guard lock(mutex_);
    if (wishes_.size() < most_wishes || wishes_.contains(about)) wishes_[about] = command;
    asked_ = true;
}

void WatchedProcess::write_wishes() {
    std::map<std::string, std::string> wishes;
    {
        const std::lock_guard lock(mutex_);
        wishes = wishes_;
    }
    for (const auto& [about, command] : wishes)
        if (command.find("\"step\"") == command.npos) write_line(command);
        else write_line("{\"do\":\"pause\"}");
}

void WatchedProcess::look() {
    if (!looks_.exchange(true)) write_line("look");
}

void WatchedProcess::broken(const std::string& text) {
    board_.put("news",
               Json{{"problem", problem_json(text)}, {"reload", nullptr}, {"reloads", 0}}.dump(
                   -1, ' ', false, Json::error_handler_t::replace));
    board_.put("status", Json{{"mode", "watch"}, {"state", "broken"}, {"rate", 0}}.dump());
    const std::lock_guard lock(mutex_);
    failure_ = text;
}

void WatchedProcess::work() {
    while (!ends_) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            broken(std::string("socketpair: ") + std::strerror(errno));
            break;
        }
        const Descriptor ours(ends[0]), theirs(::dup(ends[1]));    // the copy outlives exec()
        ::close(ends[1]);
        {
            const std::lock_guard lock(mutex_);
            commands_ = ours.get();
        }
        looks_ = asked_ = false;
        read_source();
        write_wishes();
        std::vector<std::string> command = settings_.command;
        command.push_back(std::to_string(theirs.get()));
        Listener listener(*this);
        std::string wrong;
        try {
            const ChildEnd end = run_child(
                command, patience, [&](const std::string& line) { return listener.take(line); });
            wrong = listener.verdict(end);
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        {
            const std::lock_guard lock(mutex_);
            commands_ = -1;
            child_ = 0;
        }
        if (wrong.empty() || ends_) break;
        broken(wrong);
        if (!settings_.waits) break;
        wait_for_save();
        const std::lock_guard lock(mutex_);
        failure_.clear();
    }
    over_ = true;
}

// What failed is the text from before the process was told of it: a save may come while it is stuck.
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
    asked_ = false;
    while (!saved && !ends_ && !asked_) std::this_thread::sleep_for(between_looks);
}

}
