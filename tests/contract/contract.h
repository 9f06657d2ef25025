#pragma once
#include "engine/check/check_in_child.h"
#include "tests/env/workbench.h"

#include <string>
#include <vector>

// `nacelle check`, as tests ask for it.
namespace nacelle::test {

struct Report {
    std::vector<Finding> findings;
    bool passes = false;

    const Finding* find(const std::string& check) const {
        for (const Finding& finding : findings)
            if (finding.check == check) return &finding;
        return nullptr;
    }
    // All that was refused, for a message.
    std::string refusals() const {
        std::string text;
        for (const Finding& finding : findings)
            if (finding.verdict == Verdict::refused)
                text += finding.check + ": " + finding.what + "\n";
        return text;
    }
};

inline Report check(const std::filesystem::path& author,
                    const std::vector<std::string>& assignments = {}, double timeout = 60,
                    const std::vector<std::string>& only = {}) {
    std::vector<std::string> command = {build_path("tools/nacelle"), "check", author.string()};
    for (const std::string& one : assignments) command.insert(command.end(), {"--set", one});
    for (const std::string& one : only) command.insert(command.end(), {"--only", one});
    command.emplace_back("--inside");
    ::setenv("XDG_CACHE_HOME", cache_home().c_str(), 1);
    Report report;
    report.passes =
        check_in_child({.command = command, .author = author, .timeout = timeout},
                       [&](const Finding& finding) { report.findings.push_back(finding); });
    return report;
}

}
