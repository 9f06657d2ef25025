#include "engine/check/check_in_child.h"

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/check/author_line.h"
#include "engine/supervised/child.h"
#include "engine/supervised/crash_place.h"

#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>

namespace nacelle {
namespace {

// What the child has reported about its progress.
class Listener final {
public:
    Listener(const ChildChecks& checks, const std::function<void(const Finding&)>& show)
        : checks_(checks), show_(show) {}

    double take(const std::string& line) {
        // A line that a crash has cut short is ignored.
        const std::optional<Json> word = try_parse_json(line);
        try {
            if (word && word->is_object()) take(*word);
        } catch (const Json::exception&) {
            // Of another form: an author's code may have overwritten the child's memory.
        }
        return author_ ? checks_.timeout : compile_patience;
    }

    void ended(const ChildEnd& end) {
        if (setting_.size() == 3) throw Error(setting_[0], setting_[1], setting_[2]);
        if (end.how == ChildEnd::stuck) return refuse_stuck();
        if (!fault_.empty()) return refuse_fault();
        if (end.how == ChildEnd::killed_by_signal) return refuse_crash(end.status);
        if (end.status != 0 || !done_)
            refuse("the process ended with status " + std::to_string(end.status) + " during " +
                       (doing_.empty() ? "its start" : doing_),
                   "an environment must not call exit() or abort()");
    }
    bool passes() const { return passes_; }

private:
    void take(const Json& word) {
        if (const auto crash = read_crash(word)) {
            object_ = crash->object;
            offset_ = crash->offset;
        } else if (word.contains("done")) {
            done_ = true;
        } else if (word.contains("begin")) {
            check_ = word["begin"].get<std::string>();
            doing_.clear();
        } else if (word.contains("doing")) {
            doing_ = word["doing"].get<std::string>();
            author_ = word.value("author", true);
        } else if (word.contains("finding")) {
            const Finding finding = finding_from(word["finding"]);
            passes_ &= finding.verdict != Verdict::refused;
            check_.clear();
            show_(finding);
        } else if (word.contains("setting")) {
            setting_ = word["setting"].get<std::vector<std::string>>();
        } else if (word.contains("fault")) {
            fault_ = word["fault"].get<std::string>();
            // A return address is after its call.
            const Json offset = word.value("offset", Json());
            if (offset.is_number_unsigned()) offset_ = offset.get<uint64_t>() - 1;
        } else if (word.contains("object")) object_ = word["object"].get<std::string>();
    }

    std::string place() const { return author_line(object_, offset_, checks_.author); }
    void refuse(const std::string& what, const std::string& remedy) {
        passes_ = false;
        show_({check_.empty() ? "process" : check_, Verdict::refused, what,
               remedy.empty() ? std::string(rest) : remedy + " (" + rest + ")"});
    }
    void refuse_stuck() {
        std::ostringstream text;
        const std::string at = offset_ ? place() : std::string();
        if (!at.empty()) text << at << ": ";
        text << "no end after " << (author_ ? checks_.timeout : compile_patience) << " s of "
             << (doing_.empty() ? "work" : doing_);
        refuse(text.str(), author_
                               ? "look for a loop whose condition stays true, or raise --timeout"
                               : "the compiler did not come back");
    }
    void refuse_fault() {
        const std::string at = place();
        std::string remedy = "see the rules of phases in sdk/environments.md";
        if (fault_.starts_with("index "))
            remedy = "keep every index from 0 to its size - 1, for example by nacelle::clamp";
        if (fault_.starts_with("mask() "))
            remedy = "compare the number with what Action declares before forbid() or only()";
        if (fault_.starts_with("below(")) remedy = "draw only where there is one number or more";
        refuse((at.empty() ? "" : at + ": ") + fault_, remedy);
    }
    void refuse_crash(int signal) {
        const std::string at = offset_ ? place() : std::string();
        std::string what, remedy;
        if (signal == SIGILL && !at.empty()) {
            what = "an index is outside a C array, or a whole number is divided by zero";
            remedy = "keep every index from 0 to its size - 1, and test every divisor";
        } else if (signal == SIGFPE) {
            what = "a whole number is divided by zero";
            remedy = "test the divisor";
        } else {
            what = std::string("the process crashed (") + ::strsignal(signal) + ") in " +
                   (doing_.empty() ? "the engine" : doing_);
            remedy = "look for an index outside its array, or a recursion without end";
        }
        refuse((at.empty() ? "" : at + ": ") + what, remedy);
    }

    static constexpr const char* rest = "the checks behind this one were not run";

    const ChildChecks& checks_;
    const std::function<void(const Finding&)>& show_;
    std::string check_, doing_, fault_, object_;
    std::vector<std::string> setting_;    // where, what and what instead of a wrong configuration
    uint64_t offset_ = 0;
    bool author_ = false, passes_ = true, done_ = false;
};

}

bool check_in_child(const ChildChecks& checks, const std::function<void(const Finding&)>& show) {
    Listener listener(checks, show);
    const ChildEnd end =
        run_child(checks.command, compile_patience,
                  {.said = [&](const std::string& line) { return listener.take(line); },
                   .printed = [](const std::string& text) { std::cerr << printable(text); }});
    listener.ended(end);
    return listener.passes();
}

}
