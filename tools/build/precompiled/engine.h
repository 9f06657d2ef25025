// Parsed once for all sources that read or write JSON.
#include <nlohmann/json.hpp>
