#include "engine/jit/host_toolchain.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/process.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

// "ccache g++" is a program and its first argument.
std::vector<std::string> find_command() {
    const char* variable = std::getenv("CXX");
    std::vector<std::vector<std::string>> candidates;
    if (variable) candidates.push_back(words_of(variable));
    for (const char* name : {"g++", "c++", "clang++"}) candidates.push_back({name});
    for (std::vector<std::string>& command : candidates) {
        if (command.empty()) continue;
        const std::string path = find_program(command.front());
        if (path.empty()) continue;
        command.front() = path;
        for (std::string& word : command)
            if (word.find('/') != word.npos && fs::exists(word)) word = fs::absolute(word).string();
        return command;
    }
    const std::string set =
        variable && *variable ? "$CXX (" + std::string(variable) + ")" : "$CXX (not set)";
    throw Error("host backend", "no C++ compiler: tried " + set + ", g++, c++, clang++ on PATH",
                "install one, for example with 'apt install g++'");
}

// Size and time of every program in the command: an update of the compiler changes its identity.
std::string stamp(const std::vector<std::string>& command) {
    std::string text;
    for (const std::string& word : command) {
        text += word;
        const std::string program = find_program(word);
        std::error_code trouble;
        const fs::path file = program.empty() ? fs::path() : fs::canonical(program, trouble);
        if (file.empty() || trouble) continue;
        const auto bytes = fs::file_size(file, trouble);
        const auto time = fs::last_write_time(file, trouble).time_since_epoch().count();
        text +=
            " " + file.string() + " " + std::to_string(bytes) + " " + std::to_string(time) + "\n";
    }
    return text;
}

// The processor that "native" depends on: its model and features.
std::string processor() {
    static const std::set<std::string> wanted = {
        "vendor_id",        "cpu family",  "model",    "model name",
        "stepping",         "flags",       "Features", "CPU implementer",
        "CPU architecture", "CPU variant", "CPU part"};
    std::string text;
    try {
        std::istringstream in(read_file("/proc/cpuinfo"));
        for (std::string line; std::getline(in, line) && !(line.empty() && !text.empty());) {
            const std::string name =
                line.substr(0, line.find_last_not_of(" \t", line.find(':') - 1) + 1);
            if (wanted.contains(name)) text += line + "\n";
        }
    } catch (const Error&) {    // without /proc: the compiler is asked once for the whole cache
    }
    return text;
}

// How the compiler expands -march=native: its -m flags, --param sizes and target features.
std::string native_flags(const std::string& verbose) {
    std::string flags, before;
    for (std::string word : words_of(verbose)) {
        std::erase(word, '"');
        const bool value =
            before == "-target-cpu" || before == "-target-feature" || before == "--param";
        if (value || word.starts_with("-m")) flags += " " + word;
        before = word;
    }
    return flags;
}

std::string ask(const HostToolchain& toolchain, const std::vector<std::string>& arguments) {
    std::vector<std::string> command = toolchain.words();
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = run_process(command);
    if (result.status != 0)
        throw Error(toolchain.command.front(), "this C++ compiler does not work: " + result.output);
    return result.output;
}

}

std::vector<std::string> HostToolchain::words(const std::string& temporary_folder) const {
    std::vector<std::string> all = {"/usr/bin/env", "-C", "/", "LC_ALL=C.UTF-8"};
    if (!temporary_folder.empty()) all.push_back("TMPDIR=" + temporary_folder);
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

HostToolchain find_host_toolchain(Cache& cache) {
    HostToolchain toolchain{find_command(), false, ""};
    const std::string programs = stamp(toolchain.command);
    const std::string key = Hash().add("toolchain 1").add(programs).add(processor()).hex();
    std::string answer;
    if (const auto kept = cache.find(key)) {
        answer = *kept;
    } else {
        answer = ask(toolchain, {"--version"});
        answer +=
            native_flags(ask(toolchain, {"-march=native", "-E", "-v", "-x", "c++", "/dev/null"}));
        cache.keep(key, answer);
    }
    toolchain.clang = answer.find("clang") != answer.npos;
    toolchain.build = programs + answer;
    return toolchain;
}

std::vector<std::string> bounds_checks(bool clang) {
    std::vector<std::string> options = {"-fsanitize=bounds", "-fsanitize=integer-divide-by-zero",
                                        "-fsanitize-undefined-trap-on-error"};
    // Otherwise an array at the end of a struct may have any size.
    if (!clang) options.emplace_back("-fsanitize=bounds-strict");
    return options;
}

}
