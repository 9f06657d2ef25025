#pragma once
#include "engine/config/config.h"

#include <string>
#include <string_view>

namespace nacelle {

// What a check came to.
enum class Verdict : uint8_t { ok, advice, skipped, refused };

// One line of a report: what was compared, or what is wrong and what to do about it.
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
