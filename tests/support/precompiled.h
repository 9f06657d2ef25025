// Parsed once for all test programs.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
