#include "tools/crash_watch.h"

#include "engine/base/text.h"

#include <atomic>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace nacelle::tools {
namespace {

struct CrashSignal {
    int number;
    const char* told;
};
constexpr CrashSignal fatal_signals[] = {
    {SIGSEGV, "crashed (SIGSEGV): it read or wrote outside an array, or called itself without end"},
    {SIGBUS, "crashed (SIGBUS): it read or wrote outside an array"},
    {SIGFPE, "crashed (SIGFPE): it divided a whole number by zero"},
    {SIGILL, "crashed (SIGILL): it ran into an instruction that is none"},
    {SIGTRAP, "crashed (SIGTRAP): it ran into a trap"},
    {SIGABRT, "has destroyed memory or called abort() (SIGABRT): it wrote outside an array"}};

// A handler may neither build a text nor wait for who builds one: the text that is shown lies in one of two places,
// and a new one is written to the other.
constexpr size_t most_text = 4096;
char crash_name[512];
char crash_texts[2][most_text];
std::atomic<const char*> crash_text = crash_texts[0];

void put_text(const char* text) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;    // nobody reads it
}

// The first thread that crashes tells it; the process ends before the others go on.
[[maybe_unused]] void tell_crash(int signal) {
    static std::atomic_flag told;
    while (told.test_and_set()) ::pause();
    put_text(crash_name);
    for (const CrashSignal& one : fatal_signals)
        if (one.number == signal) put_text(one.told);
    put_text(crash_text);
    ::signal(signal, SIG_DFL);
    ::raise(signal);    // takes effect when this function returns
}

void copy_text(const std::string& text, char* to, size_t room) {
    const size_t length = text.copy(to, room - 1);
    to[length] = 0;
}

// Empty where a configuration says none, which is refused later.
std::filesystem::path author_of(const Json& configuration) {
    if (!configuration.is_object()) return {};
    const Json env = configuration.value("env", Json());
    if (!env.is_object() || !env.contains("source") || !env["source"].is_string()) return {};
    return env["source"].get<std::string>();
}

// What lies beside the environment, which 'check' takes by itself; nothing where it cannot be read.
Json env_beside(std::filesystem::path author) {
    try {
        return load_json(author.replace_extension(".json")).value("env", Json::object());
    } catch (const std::exception&) {
        return Json::object();
    }
}

// How 'check' runs the code as it ran here, in words that fit into a line.
std::string by_settings(const Json& configuration, const std::filesystem::path& author) {
    constexpr size_t line = 200;
    const Json usual = env_beside(author);
    std::string words;
    for (const char* const kind : {"constants", "params"}) {
        const Json its = configuration["env"].value(kind, Json::object()),
                   beside = usual.is_object() ? usual.value(kind, Json::object()) : Json::object();
        if (!its.is_object() || !beside.is_object()) continue;
        for (const auto& [name, value] : its.items())
            if (beside.value(name, Json()) != value)
                words += " --set " + shell_word(std::string("env.") + kind + "." + name + "=" +
                                                json_text(value));
    }
    return words.size() <= line ? words + "'" : "' by the same settings";
}

}

std::string typed_path(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto here = std::filesystem::current_path(ignored);
    const std::filesystem::path relative = path.lexically_relative(here);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return printable((below ? relative : path).string());
}

CrashWatch::CrashWatch(const Json& configuration) {
    const std::filesystem::path author = author_of(configuration);
    text_ = "; 'nacelle check " + shell_word(typed_path(author)) +
            (author.empty() ? "'" : by_settings(configuration, author)) + " says where\n";
    // A line of the terminal that is rewritten in place may be open.
    copy_text((isatty(STDOUT_FILENO) ? "\n" : "") + printable(author.stem().string()) +
                  ": the environment's code ",
              crash_name, sizeof crash_name);
    add("");
#ifndef NACELLE_SANITIZE    // whose own report says more
    struct sigaction action {};
    action.sa_handler = tell_crash;
    action.sa_flags = SA_ONSTACK;
    // A crash inside of the handler ends the process.
    for (const CrashSignal& one : fatal_signals) sigaddset(&action.sa_mask, one.number);
    for (const CrashSignal& one : fatal_signals)
        ::sigaction(one.number, &action, &before_.emplace_back());
#endif
}

CrashWatch::~CrashWatch() {
    for (size_t i = 0; i < before_.size(); ++i)
        ::sigaction(fatal_signals[i].number, &before_[i], nullptr);
}

void CrashWatch::add(const std::string& sentence) {
    char* const other = crash_texts[crash_text == crash_texts[0] ? 1 : 0];
    copy_text(text_ + (sentence.empty() ? "" : printable(sentence) + "\n"), other, most_text);
    crash_text = other;
}

}
