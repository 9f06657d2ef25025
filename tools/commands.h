#pragma once
#include <CLI/CLI.hpp>

// One function per command: it adds the command to the application with what it takes, and its work as
// the callback. The work throws nacelle::Error where it fails.
namespace nacelle::tools {

void add_new(CLI::App& app);
void add_train(CLI::App& app);
void add_resume(CLI::App& app);
void add_eval(CLI::App& app);
void add_watch(CLI::App& app);
void add_play(CLI::App& app);
void add_check(CLI::App& app);
void add_inspect(CLI::App& app);
void add_draw(CLI::App& app);
void add_bench(CLI::App& app);
void add_plugins(CLI::App& app);

}
