#include "engine/base/error.h"
#include "tools/commands.h"

#include <iostream>

int main(int count, char** arguments) {
    CLI::App app("Nacelle: reinforcement learning that lives on the GPU", "nacelle");
    app.require_subcommand(1);
    app.set_version_flag("--version", "nacelle " NACELLE_VERSION);
    nacelle::tools::add_train(app);
    nacelle::tools::add_inspect(app);
    nacelle::tools::add_bench(app);
    nacelle::tools::add_plugins(app);
    try {
        app.parse(count, arguments);
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
