#include "engine/check/finding.h"

#include "engine/base/error.h"

#include <array>

namespace nacelle {
namespace {

constexpr std::array<const char*, 4> names = {"ok", "advice", "skipped", "refused"};

}

const char* verdict_name(Verdict verdict) { return names[size_t(verdict)]; }

Json as_json(const Finding& finding) {
    Json line = {{"check", finding.check},
                 {"verdict", verdict_name(finding.verdict)},
                 {"what", finding.what}};
    if (!finding.remedy.empty()) line["remedy"] = finding.remedy;
    return line;
}

Finding finding_from(const Json& line) {
    Finding finding{line.value("check", ""), Verdict::ok, line.value("what", ""),
                    line.value("remedy", "")};
    const std::string verdict = line.value("verdict", "");
    for (size_t i = 0; i < names.size(); ++i)
        if (verdict == names[i]) {
            finding.verdict = Verdict(i);
            return finding;
        }
    throw Error("check", "a finding has the verdict '" + verdict + "'");
}

}
