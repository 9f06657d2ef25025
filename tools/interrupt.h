#pragma once
#include <filesystem>
#include <string>

namespace nacelle::tools {

// From now on the first SIGINT, SIGTERM or SIGHUP sets interrupted(), which ends a run's loop: its finish() then saves
// a checkpoint. The next signal of any kind ends the process. told_twice: who has started this process passes on what a
// terminal or a system tells all processes, so that what comes within a second of the first signal is the same one. Where
// nobody asks interrupted() for some seconds after the first signal, standard error gets `waiting`.
void listen_for_signals(bool told_twice = false, const std::string& waiting = {});
bool interrupted();
// What a training waits for behind a signal, and what to do where it never comes.
std::string waits_for_iteration(const std::filesystem::path& author);

}
