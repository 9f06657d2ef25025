#include "tools/commands.h"
namespace nacelle::tools { void add_plugins(CLI::App&) {} }
