#include "tests/fuzz/campaign.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "tests/fuzz/worker.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <new>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nacelle::fuzz {
namespace fs = std::filesystem;
namespace {

// A target that ends so often is not run to its end.
constexpr int most_ends = 100;
constexpr size_t most_report_lines = 20, most_report_columns = 160;

Shared& share() {
    void* const memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("there is no memory to share");
    return *new (memory) Shared;
}

// What a process holds of the machine's memory.
uint64_t memory_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * uint64_t(::sysconf(_SC_PAGESIZE));
}

void limit_this_process() {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
#ifndef NACELLE_SANITIZE
    // The address sanitizer reserves far more, and has a limit of its own (main.cpp).
    const rlimit memory{2 * most_memory, 2 * most_memory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
}

class Campaign final {
public:
    Campaign(const NamedTarget& named, const CampaignSettings& settings)
        : name_(named.name), settings_(settings), target_(named.make()), shared_(share()) {
        samples_ = target_->samples();
        if (samples_.empty()) throw std::runtime_error("there is no input to begin with");
        fs::create_directories(settings.folder);
        for (const auto& entry : fs::directory_iterator(settings.folder))
            if (entry.path().filename().string().starts_with(name_ + "-"))
                kept_.push_back(read_file(entry.path()));
    }

    bool run() {
        const uint64_t until = milliseconds_now() + uint64_t(settings_.seconds * 1000);
        for (int ends = 0; ends < most_ends; ++ends) {
            const std::string why = run_worker(settings_.seed + uint64_t(ends), until);
            if (why.empty()) break;
            report(why);
        }
        const uint64_t inputs = shared_.begun;
        const bool good = known_.empty() && inputs > 0;
        std::cout << name_ << ' ' << settings_.seconds << " s " << inputs << " inputs "
                  << known_.size() << " findings seed " << settings_.seed << std::endl;
        return good;
    }

private:
    // Why it ended before its time; empty where it did not.
    std::string run_worker(uint64_t seed, uint64_t until) {
        shared_.began_at = 0;
        shared_.has_escaped = false;
        errors_.reset(std::tmpfile());
        if (!errors_) throw std::runtime_error("there is no room for a child's errors");
        std::cout.flush();
        const pid_t child = ::fork();
        if (child < 0) throw std::runtime_error("no child can be started");
        if (child == 0) {
            ::dup2(::fileno(errors_.get()), STDERR_FILENO);
            limit_this_process();
            work({.target = *target_,
                  .shared = shared_,
                  .samples = samples_,
                  .kept = kept_,
                  .known = known_,
                  .seed = seed,
                  .until = until});
        }
        return watch(child);
    }

    std::string watch(pid_t child) {
        for (;;) {
            int status = 0;
            if (::waitpid(child, &status, WNOHANG) == child) return reason(status);
            const uint64_t began = shared_.began_at, now = milliseconds_now();
            if (began != 0 && now > began + most_milliseconds)
                return killed(child, "hangs: it is still read after 10 s");
            if (memory_of(child) > most_memory)
                return killed(child, "takes more than 2 GiB of memory");
            ::usleep(20000);
        }
    }
    // A sanitizer may stop in the middle of its report: that is what matters then.
    std::string killed(pid_t child, const char* why) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string reported = sanitizer_reason();
        return reported.empty() ? why : reported;
    }

    std::string reason(int status) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
        if (shared_.has_escaped) return escape_words(shared_.escaped);
        const std::string reported = sanitizer_reason();
        if (!reported.empty()) return reported;
        if (WIFSIGNALED(status))
            return std::string("ends the process: ") + ::strsignal(WTERMSIG(status));
        return "ends the process with status " + std::to_string(WEXITSTATUS(status));
    }

    std::string sanitizer_reason() {
        const std::string said = errors();
        for (const char* const mark : {"SUMMARY: ", "runtime error: ", "ERROR: AddressSanitizer: "})
            if (const size_t at = said.find(mark); at != said.npos)
                return std::string("is one of which a sanitizer says ") +
                       said.substr(at, said.find('\n', at) - at);
        return {};
    }

    std::string errors() {
        std::string text;
        std::rewind(errors_.get());
        char piece[4096];
        while (const size_t count = std::fread(piece, 1, sizeof piece, errors_.get()))
            text.append(piece, count);
        return printable(text);
    }

    // Each reason is kept once: one mistake is found by many inputs.
    void report(const std::string& why) {
        if (!known_.insert(key_of(why)).second) return;
        const std::string input(shared_.input, shared_.size);
        const fs::path file =
            settings_.folder / (name_ + "-" + Hash().add(input).hex().substr(0, 16));
        write_file(file, input);
        std::cout << "FAILED " << name_ << ": an input " << why
                  << "\n    repeat it: " << settings_.program << " --input " << file.string()
                  << '\n';
        std::istringstream lines(errors());
        std::string line;
        for (size_t i = 0; i < most_report_lines && std::getline(lines, line); ++i)
            std::cout << "    " << line.substr(0, most_report_columns) << '\n';
        std::cout.flush();
    }

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::string name_;
    CampaignSettings settings_;
    std::unique_ptr<Target> target_;
    Shared& shared_;
    std::vector<std::string> samples_, kept_;
    std::set<std::string> known_;
    std::unique_ptr<std::FILE, Close> errors_;
};

}

bool run_campaign(const NamedTarget& target, const CampaignSettings& settings) {
    return Campaign(target, settings).run();
}

}
