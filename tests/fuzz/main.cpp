// Reads inputs that nobody would write: none may crash, hang, take all memory or let an exception out
// that is no Error. Most is seen in a build with sanitizers.
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/fuzz/campaign.h"
#include "tests/support/folders.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// Read by the address sanitizer as the program starts. What asks for more than a worker may have is a
// finding, and is not let through to slow the machine down.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "max_allocation_size_mb=2048:hard_rss_limit_mb=3072:detect_leaks=0:"
           "allocator_may_return_null=0:handle_abort=1";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

namespace nacelle::fuzz {
namespace {

constexpr const char* usage =
    "usage: fuzz [--seconds N] [--seed S] [--target NAME]... [--corpus FOLDER] [--input FILE]\n"
    "\n"
    "  --seconds N      for each target; 60\n"
    "  --seed S         of the inputs; 1\n"
    "  --target NAME    only this one; without it all, two at a time\n"
    "  --corpus FOLDER  where inputs that are findings are kept, and read again first\n"
    "  --input FILE     reads only this one, which its name says is of which target\n";

struct Options {
    CampaignSettings campaign{
        .seconds = 60, .seed = 1, .folder = test::build_path("fuzz"), .program = "fuzz"};
    std::vector<const NamedTarget*> targets;
    std::filesystem::path input;
};

const NamedTarget& target_named(std::string_view name) {
    std::string names;
    for (const NamedTarget& target : all_targets()) {
        if (name == target.name) return target;
        names += (names.empty() ? "" : ", ") + std::string(target.name);
    }
    throw Error("--target", "there is no '" + std::string(name) + "'", "there is: " + names);
}

template <class T> T number_of(const std::string& option, std::string_view word) {
    T number{};
    const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (wrong != std::errc() || end != word.data() + word.size() || !(number >= 0))
        throw Error(option, "is no number: " + std::string(word));
    return number;
}

Options read_options(int count, char** words) {
    Options options;
    options.campaign.program = words[0];
    for (int i = 1; i < count; i += 2) {
        const std::string name = words[i];
        const bool known = name == "--seconds" || name == "--seed" || name == "--target" ||
                           name == "--corpus" || name == "--input";
        if (!known || i + 1 >= count)
            throw Error(name, known ? "needs a value" : "is no option", usage);
        const std::string value = words[i + 1];
        if (name == "--seconds") options.campaign.seconds = number_of<double>(name, value);
        if (name == "--seed") options.campaign.seed = number_of<uint64_t>(name, value);
        if (name == "--target") options.targets.push_back(&target_named(value));
        if (name == "--corpus") options.campaign.folder = value;
        if (name == "--input") options.input = value;
    }
    if (options.targets.empty())
        for (const NamedTarget& target : all_targets()) options.targets.push_back(&target);
    return options;
}

// In this process, for a debugger.
int repeat(const Options& options) {
    const std::string file = options.input.filename().string();
    const NamedTarget& named = options.targets.size() == 1
                                   ? *options.targets[0]
                                   : target_named(file.substr(0, file.rfind('-')));
    const std::unique_ptr<Target> target = named.make();
    target->samples();    // what it needs to read one is made there
    try {
        target->read(read_file(options.input));
        std::cout << named.name << " takes it\n";
    } catch (const Error& refusal) {
        std::cout << named.name << " refuses it: " << refusal.what() << '\n';
    }
    return 0;
}

// A campaign in a process of its own: one target's crash, threads and open files are its own.
struct Running {
    pid_t process;
    std::FILE* output;
};

Running begin(const NamedTarget& target, const CampaignSettings& settings) {
    std::cout.flush();
    Running running{.process = 0, .output = std::tmpfile()};
    if (!running.output) throw Error("fuzz", "there is no room for a target's output");
    running.process = ::fork();
    if (running.process < 0) throw Error("fuzz", "no child can be started");
    if (running.process != 0) return running;
    ::dup2(::fileno(running.output), STDOUT_FILENO);
    int status = 1;
    try {
        status = run_campaign(target, settings) ? 0 : 1;
    } catch (const std::exception& wrong) {
        std::cout << "FAILED " << target.name << ": " << wrong.what() << std::endl;
    }
    std::cout.flush();
    std::exit(status);
}

// Prints what it has printed, and says whether it ended well.
bool finish(const Running& running, int status) {
    std::rewind(running.output);
    char piece[4096];
    while (const size_t count = std::fread(piece, 1, sizeof piece, running.output))
        std::cout.write(piece, std::streamsize(count));
    std::fclose(running.output);
    std::cout.flush();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_all(const Options& options) {
    const size_t at_once = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 2);
    std::vector<Running> running;
    size_t next = 0, passed = 0, failed = 0;
    while (next < options.targets.size() || !running.empty()) {
        if (next < options.targets.size() && running.size() < at_once) {
            running.push_back(begin(*options.targets[next++], options.campaign));
            continue;
        }
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, 0);
        const auto found = std::find_if(running.begin(), running.end(),
                                        [&](const Running& one) { return one.process == ended; });
        if (found == running.end()) continue;
        ++(finish(*found, status) ? passed : failed);
        running.erase(found);
    }
    std::cout << passed << " passed, " << failed << " failed, 0 skipped" << std::endl;
    return failed == 0 ? 0 : 1;
}

}
}

int main(int count, char** words) {
    using namespace nacelle::fuzz;
    try {
        if (count == 2 && std::string_view(words[1]) == "--help") {
            std::cout << usage;
            return 0;
        }
        const Options options = read_options(count, words);
        return options.input.empty() ? run_all(options) : repeat(options);
    } catch (const std::exception& wrong) {
        std::cerr << "fuzz: " << wrong.what() << '\n';
        return 2;
    }
}
