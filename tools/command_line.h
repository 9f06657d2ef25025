#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}

// What the commands say of their options, in front of CLI11, whose header takes longer to compile than all of
// a command: command_line.cpp alone includes it.
namespace nacelle::tools {

// One option while a command describes it; the command owns it.
class Option final {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option& required();
    Option& hidden();
    // Its value of the moment is shown in the help.
    Option& shows_default();
    Option& value_name(const std::string& name);
    // Values separated by commas.
    Option& list();
    // It may be given several times, each time with one value.
    Option& repeated();
    template <typename T> Option& between(T least, T most);
    Option& one_of(const std::vector<std::string>& names);
    Option& existing_folder();
    Option& excludes(const Option& other);
    Option& needs(const Option& other);

private:
    CLI::Option* option_;
};

// One command of the program: its options, and what it does.
class Command final {
public:
    explicit Command(CLI::App& command) : command_(&command) {}

    // "--name", or "name" for a word by its place. `target` must live until the command has run.
    template <typename T>
    Option option(const std::string& name, T& target, const std::string& help);
    Option flag(const std::string& name, bool& target, const std::string& help);
    // One that was described before.
    Option known(const std::string& name);
    // What is asked once all options are there; throws UsageError.
    void check(std::function<void()> question);
    void run(std::function<void()> work);

private:
    CLI::App* command_;
};

// The user has written what no command takes.
class UsageError final : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A command has said all that there is to say, and ends the program with this status.
struct EndWith {
    int status;
};

class CommandLine final {
public:
    CommandLine(const std::string& about, const std::string& name, const std::string& version);
    ~CommandLine();

    Command add(const std::string& name, const std::string& about);
    // Runs the command that the words name, and returns the program's status; what the command throws, but for
    // UsageError and EndWith, passes.
    int run(int count, char** words);

private:
    std::unique_ptr<CLI::App> app_;
};

}
