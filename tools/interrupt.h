#pragma once
namespace nacelle::tools {

// From now on the first SIGINT, SIGTERM or SIGHUP sets interrupted(), which ends a run's loop: its finish() then saves
// a checkpoint. The next signal of any kind ends the process.
void listen_for_signals();
bool interrupted();

}
