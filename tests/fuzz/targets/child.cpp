#include "engine/base/files.h"
#include "engine/check/check_in_child.h"
#include "engine/watch/process.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

#include <filesystem>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace nacelle::fuzz {
namespace {

// What a process that runs an author's code says on its channel, and prints: of `check` and of `watch`.
class Child final : public Target {
public:
    std::vector<std::string> samples() override {
        return {
            "{\"begin\":\"indices\"}\n{\"doing\":\"step()\",\"author\":true}\n{\"going\":true}\n"
            "{\"finding\":{\"check\":\"indices\",\"verdict\":\"ok\",\"what\":\"fine\"}}\n{\"done\":"
            "true}\n",
            "{\"setting\":[\"run.json\",\"env.count is 0\",\"1 or more\"]}\n{\"done\":true}\n",
            "{\"object\":\"/tmp/tag.so\"}\n{\"fault\":\"index 7 is outside x\",\"offset\":4711}\n",
            "{\"begin\":\"finite\"}\n{\"signal\":11,\"object\":\"2f746d70\",\"offset\":0}\n",
            "environment {\"name\":\"Tag\",\"envs\":4}\nstatus {\"state\":\"runs\",\"step\":3}\n"
            "news {\"problem\":null,\"reload\":null,\"reloads\":0}\npicture {\"shapes\":[]}\ndone "
            "true\n",
            "busy true\nbusy false\nbroken \"what is wrong\"\n"};
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        if (dice.chance(0.3)) return mutated_bytes(input, other, dice);
        std::vector<std::string> lines(1);
        for (const char letter : input)
            if (letter == '\n') lines.emplace_back();
            else lines.back() += letter;
        std::string& line = lines[size_t(dice.below(int(lines.size())))];
        const size_t json = line.starts_with('{') ? 0 : std::min(line.find(' ') + 1, line.size());
        line = line.substr(0, json) + mutated_json_text(line.substr(json), "{}", dice);
        std::string text;
        for (const std::string& one : lines) text += one + "\n";
        return text;
    }

    // Said and printed: what is printed must change nothing.
    void read(const std::string& input) override {
        const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                           ("nacelle-child-" + std::to_string(::getpid()));
        write_file(file, input);
        std::exception_ptr wrong;
        try {
            watch(file);
            check(file);
        } catch (...) {
            wrong = std::current_exception();
        }
        std::filesystem::remove(file);
        if (wrong) std::rethrow_exception(wrong);
    }

private:
    static std::vector<std::string> command(const char* script, const std::filesystem::path& file) {
        return {"/bin/sh", "-c", script, "sh", file.string()};
    }
    static void watch(const std::filesystem::path& file) {
        Sections sections;
        {
            WatchedProcess watched(sections,
                                   {.command = command("cat \"$1\" >&3; cat \"$1\"", file),
                                    .author = file,
                                    .waits = false,
                                    .first_commands = {}});
            while (!watched.over()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        Sections::Seen seen;
        const std::string shown = sections.news(seen);
        if (!shown.empty() && !Json::accept(shown))
            throw std::logic_error("a page is shown no JSON");
    }
    static void check(const std::filesystem::path& file) {
        check_in_child({.command = command("cat \"$1\" >&3", file), .author = file},
                       [](const Finding& finding) {
                           if (!Json::accept(::nacelle::json_text(as_json(finding))))
                               throw std::logic_error("a finding is no JSON");
                       });
    }
};

}

std::unique_ptr<Target> child_target() { return std::make_unique<Child>(); }

}
