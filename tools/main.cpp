#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/base/text.h"
#include "tools/commands.h"
#include "tools/compile_helper.h"
#include "tools/output.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>

namespace {

int say_wrong(const std::string& what) {
    std::cerr << nacelle::printable(what) << "\nRun with --help for more information.\n";
    return 2;
}

// What a command does not know: an option, and which one may be meant, or a word too many.
std::string not_expected(const CLI::App& command, int count, char** arguments) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
            if (!option->get_group().empty()) names.push_back("--" + name);
    for (int i = 2; i < count; ++i) {
        const std::string word = arguments[i], option = word.substr(0, word.find('='));
        if (option.starts_with("--") && !command.get_option_no_throw(option))
            return "there is no option '" + option + "' (" + nacelle::suggest(option, names) + ")";
    }
    const std::vector<std::string> left = command.remaining();
    return "'" + (left.empty() ? std::string() : left.front()) + "' was not expected";
}

int run(int count, char** arguments) {
    if (nacelle::tools::is_compile_helper(count, arguments))
        return nacelle::tools::help_compiling(arguments);
    // Who waits for an inner process says it there.
    std::optional<nacelle::tools::ExitWatch> watch;
    if (count < 3 || std::string_view(arguments[count - 2]) != "--inside") watch.emplace();
    CLI::App app("Nacelle: reinforcement learning that lives on the GPU", "nacelle");
    app.require_subcommand(1);
    app.set_version_flag("--version", "nacelle " NACELLE_VERSION);
    nacelle::tools::add_new(app);
    nacelle::tools::add_train(app);
    nacelle::tools::add_resume(app);
    nacelle::tools::add_eval(app);
    nacelle::tools::add_watch(app);
    nacelle::tools::add_play(app);
    nacelle::tools::add_check(app);
    nacelle::tools::add_inspect(app);
    nacelle::tools::add_draw(app);
    nacelle::tools::add_bench(app);
    nacelle::tools::add_plugins(app);
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    const std::string first = count > 1 ? arguments[1] : "-";
    if (!first.starts_with('-') && std::find(names.begin(), names.end(), first) == names.end())
        return say_wrong("nacelle: there is no command '" + first + "' (" +
                         nacelle::suggest(first, names) + ")");
    if (count == 1) {
        std::string there;
        for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
        return say_wrong("nacelle: which command? (there is: " + there + ")");
    }
    try {
        app.parse(count, arguments);
    } catch (const CLI::RuntimeError& verdict) {
        return verdict.get_exit_code();    // a command has said all that there is to say
    } catch (const CLI::ExtrasError& error) {
        const std::vector<CLI::App*> called = app.get_subcommands();
        if (called.empty()) return app.exit(error) == 0 ? 0 : 2;
        return say_wrong(called.front()->get_name() + ": " +
                         not_expected(*called.front(), count, arguments));
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const nacelle::Error& error) {
        std::cerr << nacelle::printable(error.what()) << '\n';
        return 1;
    } catch (const std::filesystem::filesystem_error& error) {
        // A name that no file can have, a folder that may not be looked into.
        std::cerr << nacelle::printable(error.path1().string()) << ": " << error.code().message()
                  << '\n';
        return 1;
    } catch (const std::bad_alloc&) {
        std::cerr << "nacelle: there is not enough memory for this\n";
        return 1;
    } catch (const std::exception& error) {
        std::cerr << "nacelle: " << nacelle::printable(error.what()) << '\n';
        return 1;
    }
    return 0;
}

}

int main(int count, char** arguments) {
    nacelle::tools::reserve_standard_streams();
    const int status = run(count, arguments);
    return nacelle::tools::finish_output() || status != 0 ? status : 1;
}
