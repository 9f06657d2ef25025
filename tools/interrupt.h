#pragma once
namespace nacelle::tools {

// From now on the first SIGINT or SIGTERM only says so; the next one, of either kind, ends the process.
void listen_for_signals();
bool interrupted();

}
