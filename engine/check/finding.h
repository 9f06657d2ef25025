#pragma once
#include "engine/config/config.h"

#include <string>
#include <string_view>

namespace nacelle {

// The result of a check.
enum class Verdict : uint8_t { ok, advice, skipped, refused };

// One line of a report: what was compared, or what is wrong and how to repair it.
struct Finding {
    std::string check;
    Verdict verdict = Verdict::ok;
    std::string what;
    std::string remedy;    // empty where there is nothing to do
};

const char* verdict_name(Verdict);
Json as_json(const Finding&);
Finding finding_from(const Json&);

}
