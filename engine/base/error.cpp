#include "engine/base/error.h"

#include <utility>

namespace nacelle {
namespace {

std::string line(const std::string& where, const std::string& what, const std::string& instead) {
    std::string text = where.empty() ? what : where + ": " + what;
    if (!instead.empty()) text += " (" + instead + ")";
    // what() would end there.
    for (size_t at; (at = text.find('\0')) != text.npos;) text.replace(at, 1, "\\0");
    return text;
}

}

Error::Error(std::string where, std::string what, std::string instead)
    : std::runtime_error(line(where, what, instead)),
      where_(std::move(where)),
      reason_(std::move(what)),
      instead_(std::move(instead)) {}

}
