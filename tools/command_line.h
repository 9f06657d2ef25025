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

// The interface between the commands and CLI11, whose header takes longer to compile than a whole command:
// command_line.cpp alone includes it.
namespace nacelle::tools {

// Describes one option; the command owns it.
class Option final {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option& required();
    Option& hidden();
    // The help shows its current value.
    Option& shows_default();
    Option& value_name(const std::string& name);
    // Values separated by commas.
    Option& list();
    // Takes one value each time and may be repeated.
    Option& repeated();
    template <typename T> Option& between(T least, T most);
    Option& one_of(const std::vector<std::string>& names);
    Option& existing_folder();
    // `question` throws UsageError for a wrong value.
    Option& checked(std::function<void(const std::string&)> question);
    Option& excludes(const Option& other);
    Option& needs(const Option& other);

private:
    CLI::Option* option_;
};

// One command of the program: its options, and what it does.
class Command final {
public:
    explicit Command(CLI::App& command) : command_(&command) {}

    // "--name", or "name" for a positional argument. `target` must live until the command has run.
    template <typename T>
    Option option(const std::string& name, T& target, const std::string& help);
    Option flag(const std::string& name, bool& target, const std::string& help);
    // An option that was described before.
    Option known(const std::string& name);
    // Checks the options once all are parsed; may throw UsageError.
    void check(std::function<void()> question);
    void run(std::function<void()> work);

private:
    CLI::App* command_;
};

// An error in the command line.
class UsageError final : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Ends the program with this status; the command has printed everything.
struct EndWith {
    int status;
};

class CommandLine final {
public:
    CommandLine(const std::string& about, const std::string& name, const std::string& version);
    ~CommandLine();

    Command add(const std::string& name, const std::string& about);
    // Runs the command that the arguments name and returns the program's status. Exceptions of the command other than
    // UsageError and EndWith pass through.
    int run(int count, char** words);

private:
    std::unique_ptr<CLI::App> app_;
};

}
