#pragma once
namespace nacelle::tools {

// From now on the first SIGINT, SIGTERM or SIGHUP sets interrupted(), which ends a run's loop: its finish() then saves
// a checkpoint. The next signal of any kind ends the process. told_twice: who has started this process passes on what a
// terminal or a system tells all processes, so that what comes within a second of the first signal is the same one.
void listen_for_signals(bool told_twice = false);
bool interrupted();

}
