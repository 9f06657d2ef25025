#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "tools/commands.h"

#include <algorithm>
#include <iostream>

int main(int count, char** arguments) {
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
    if (!first.starts_with('-') && std::find(names.begin(), names.end(), first) == names.end()) {
        std::cerr << "nacelle: there is no command '" << first << "' ("
                  << nacelle::suggest(first, names) << ")\nRun with --help for more information.\n";
        return 2;
    }
    try {
        app.parse(count, arguments);
    } catch (const CLI::RuntimeError& verdict) {
        return verdict.get_exit_code();    // a command has said all that there is to say
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const nacelle::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    } catch (const std::exception& error) {
        std::cerr << "nacelle: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
