#include "engine/base/error.h"
#include "engine/base/text.h"
#include "tools/commands.h"
#include "tools/compile_helper.h"
#include "tools/output.h"
#include "tools/uncaught.h"

#include <filesystem>
#include <iostream>
#include <nacelle/plugin/failure_text.h>
#include <optional>
#include <string_view>

namespace {

int run_command(int count, char** arguments) {
    if (nacelle::tools::is_compile_helper(count, arguments))
        return nacelle::tools::help_compiling(arguments);
    // The parent of an inner process prints its errors.
    std::optional<nacelle::tools::ExitWatch> watch;
    if (count < 3 || std::string_view(arguments[count - 2]) != "--inside") watch.emplace();
    nacelle::tools::CommandLine line("Nacelle: reinforcement learning that lives on the GPU",
                                     "nacelle", "nacelle " NACELLE_VERSION);
    nacelle::tools::add_new(line);
    nacelle::tools::add_train(line);
    nacelle::tools::add_resume(line);
    nacelle::tools::add_eval(line);
    nacelle::tools::add_export(line);
    nacelle::tools::add_match(line);
    nacelle::tools::add_watch(line);
    nacelle::tools::add_play(line);
    nacelle::tools::add_check(line);
    nacelle::tools::add_inspect(line);
    nacelle::tools::add_runs(line);
    nacelle::tools::add_plot(line);
    nacelle::tools::add_compare(line);
    nacelle::tools::add_sweep(line);
    nacelle::tools::add_draw(line);
    nacelle::tools::add_bench(line);
    nacelle::tools::add_plugins(line);
    return line.run(count, arguments);
}

int run(int count, char** arguments) {
    try {
        return run_command(count, arguments);
    } catch (const nacelle::Error& error) {
        std::cerr << nacelle::printable(error.what()) + '\n';
    } catch (const std::filesystem::filesystem_error& error) {
        // An invalid file name, or a folder without permission.
        std::cerr << nacelle::printable(error.path1().string()) << ": " << error.code().message()
                  << '\n';
    } catch (const std::exception& error) {
        std::cerr << "nacelle: " << nacelle::printable(nacelle::plugin::failure_text(error))
                  << '\n';
    }
    return 1;
}

}

int main(int count, char** arguments) {
    nacelle::tools::tell_uncaught_exceptions();
    nacelle::tools::reserve_standard_streams();
    const int status = run(count, arguments);
    return nacelle::tools::finish_output() || status != 0 ? status : 1;
}
