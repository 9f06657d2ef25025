#include "tools/command_line.h"

#include "engine/base/suggest.h"
#include "engine/base/text.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <optional>

namespace nacelle::tools {
namespace {

int say_wrong(const std::string& what) {
    std::cerr << printable(what) << "\nRun with --help for more information.\n";
    return 2;
}

// The error for an unknown option, with a suggestion, or for a superfluous argument.
std::string not_expected(const CLI::App& command, int count, char** words) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
            if (!option->get_group().empty()) names.push_back("--" + name);
    for (int i = 2; i < count; ++i) {
        const std::string word = words[i], option = word.substr(0, word.find('='));
        if (option.starts_with("--") && !command.get_option_no_throw(option))
            return "there is no option '" + option + "' (" + suggest(option, names) + ")";
    }
    const std::vector<std::string> left = command.remaining();
    return "'" + (left.empty() ? std::string() : left.front()) + "' was not expected";
}

}

Option& Option::required() { return option_->required(), *this; }
Option& Option::hidden() { return option_->group(""), *this; }
Option& Option::shows_default() { return option_->capture_default_str(), *this; }
Option& Option::value_name(const std::string& name) { return option_->type_name(name), *this; }
Option& Option::list() { return option_->delimiter(','), *this; }
Option& Option::repeated() { return option_->take_all()->allow_extra_args(false), *this; }
Option& Option::one_of(const std::vector<std::string>& names) {
    return option_->check(CLI::IsMember(names)), *this;
}
Option& Option::existing_folder() { return option_->check(CLI::ExistingDirectory), *this; }
Option& Option::checked(std::function<void(const std::string&)> question) {
    option_->check([question = std::move(question)](const std::string& value) {
        question(value);
        return std::string();
    });
    return *this;
}
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }

template <typename T> Option& Option::between(T least, T most) {
    option_->check(CLI::Range(least, most));
    // A range looks whether a number lies outside, which NaN never does.
    if (std::is_floating_point_v<T>)
        option_->check([](const std::string& value) {
            double number = 0;
            const bool none = CLI::detail::lexical_cast(value, number) && std::isnan(number);
            return none ? "Value " + value + " is no number" : std::string();
        });
    return *this;
}
template Option& Option::between(int, int);
template Option& Option::between(unsigned, unsigned);
template Option& Option::between(int64_t, int64_t);
template Option& Option::between(uint64_t, uint64_t);
template Option& Option::between(double, double);

template <typename T> constexpr bool is_unsigned = std::is_unsigned_v<T>;
template <typename T> constexpr bool is_unsigned<std::optional<T>> = is_unsigned<T>;
template <typename T> constexpr bool is_unsigned<std::vector<T>> = is_unsigned<T>;

template <typename T>
Option Command::option(const std::string& name, T& target, const std::string& help) {
    CLI::Option* const option = command_->add_option(name, target, help);
    // Of a number without a sign the conversion would take -1 for 2^64 - 1.
    if constexpr (is_unsigned<T>)
        option->check([](const std::string& value) {
            return value.starts_with('-') ? "Value " + value + " is negative" : std::string();
        });
    return Option(*option);
}
template Option Command::option(const std::string&, int&, const std::string&);
template Option Command::option(const std::string&, uint16_t&, const std::string&);
template Option Command::option(const std::string&, unsigned&, const std::string&);
template Option Command::option(const std::string&, int64_t&, const std::string&);
template Option Command::option(const std::string&, uint64_t&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, std::filesystem::path&, const std::string&);
template Option Command::option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option Command::option(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option Command::option(const std::string&, std::vector<uint32_t>&, const std::string&);
template Option Command::option(const std::string&, std::vector<uint64_t>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::filesystem::path>&,
                                const std::string&);

Option Command::flag(const std::string& name, bool& target, const std::string& help) {
    return Option(*command_->add_flag(name, target, help));
}

Option Command::known(const std::string& name) { return Option(*command_->get_option(name)); }

void Command::check(std::function<void()> question) {
    command_->parse_complete_callback(std::move(question));
}

void Command::run(std::function<void()> work) { command_->callback(std::move(work)); }

CommandLine::CommandLine(const std::string& about, const std::string& name,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(about, name)) {
    app_->require_subcommand(1);
    app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const std::string& name, const std::string& about) {
    return Command(*app_->add_subcommand(name, about));
}

int CommandLine::run(int count, char** words) {
    std::vector<std::string> names;
    for (const CLI::App* command : app_->get_subcommands({})) names.push_back(command->get_name());
    const std::string program = app_->get_name(), first = count > 1 ? words[1] : "-";
    if (!first.starts_with('-') && std::find(names.begin(), names.end(), first) == names.end())
        return say_wrong(program + ": there is no command '" + first + "' (" +
                         suggest(first, names) + ")");
    if (count == 1) {
        std::string there;
        for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
        return say_wrong(program + ": which command? (there is: " + there + ")");
    }
    try {
        app_->parse(count, words);
    } catch (const EndWith& end) {
        return end.status;
    } catch (const UsageError& error) {
        return say_wrong(error.what());
    } catch (const CLI::ExtrasError& error) {
        const std::vector<CLI::App*> called = app_->get_subcommands();
        if (called.empty()) return app_->exit(error) == 0 ? 0 : 2;
        return say_wrong(called.front()->get_name() + ": " +
                         not_expected(*called.front(), count, words));
    } catch (const CLI::ParseError& error) {
        return app_->exit(error) == 0 ? 0 : 2;
    }
    return 0;
}

}
