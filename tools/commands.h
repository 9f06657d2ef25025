#pragma once
#include "tools/command_line.h"

// One function per command: it adds the command to the command line. The work of a command throws nacelle::Error
// where it fails.
namespace nacelle::tools {

void add_new(CommandLine& line);
void add_train(CommandLine& line);
void add_resume(CommandLine& line);
void add_eval(CommandLine& line);
void add_export(CommandLine& line);
void add_match(CommandLine& line);
void add_watch(CommandLine& line);
void add_play(CommandLine& line);
void add_check(CommandLine& line);
void add_inspect(CommandLine& line);
void add_runs(CommandLine& line);
void add_plot(CommandLine& line);
void add_compare(CommandLine& line);
void add_sweep(CommandLine& line);
void add_draw(CommandLine& line);
void add_bench(CommandLine& line);
void add_plugins(CommandLine& line);

}
