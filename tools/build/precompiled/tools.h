// Parsed once for all commands of the tool.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
