#include "engine/check/checks.h"
#include "tests/contract/contract.h"
#include "tests/env/workbench.h"
#include "tests/support/sanitized.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>
#include <regex>
#include <set>
#include <sstream>

// Environments that are wrong on purpose. The first lines of each file say what must be found: "//
// VERDICT: CHECK: WORDS" or "// remedy: CHECK: WORDS", the words as a pattern of their beginning.
using namespace nacelle;
using namespace nacelle::test;

namespace {

const std::filesystem::path folder = source_path("tests/contract/planted");

struct Expected {
    std::string verdict, check, words;
};

std::vector<Expected> expected_of(const std::filesystem::path& file) {
    static const std::regex form("// (refused|advice|remedy): ([^:]+): (.*)");
    std::vector<Expected> list;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line) && line.starts_with("//");)
        if (std::smatch found; std::regex_match(line, found, form))
            list.push_back({found[1], found[2], found[3]});
    return list;
}

bool fits(const Expected& expected, const Finding& finding) {
    const std::regex words(expected.words), check(expected.check);
    const bool remedy = expected.verdict == "remedy";
    if (!std::regex_match(finding.check, check)) return false;
    if (!remedy && expected.verdict != verdict_name(finding.verdict)) return false;
    return std::regex_search(remedy ? finding.remedy : finding.what, words,
                             std::regex_constants::match_continuous);
}

// The checks that a file is about, and those that must pass before them; all where it only gets
// advice.
std::vector<std::string> checks_for(const std::vector<Expected>& expected) {
    std::vector<std::string> names;
    for (const Check& check : all_checks()) {
        bool named = check.basis;
        for (const Expected& one : expected) {
            if (one.verdict == "advice") return {};
            named |= std::regex_match(check.name, std::regex(one.check));
        }
        if (named) names.emplace_back(check.name);
    }
    return names;
}

std::string text_of(const Report& report) {
    std::string text;
    for (const Finding& finding : report.findings)
        text += "\n" + std::string(verdict_name(finding.verdict)) + ": " + finding.check + ": " +
                finding.what + " -> " + finding.remedy;
    return text;
}

}

TEST_CASE("every planted mistake is refused in the words that its file expects" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    // Another file's mistake is found by the same check.
    const std::set<std::string> alike = {
        "division_by_zero", "double_literal", "forgotten_member", "index_of_list",  "libm_call",
        "no_observe",       "race_neighbour", "race_over",        "race_own_field", "race_state"};
    leave_out("the plain build has all mistakes, this one leaves out " +
              std::to_string(alike.size()));
#endif
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".cu") continue;
#ifdef NACELLE_SANITIZE
        if (alike.contains(entry.path().stem())) continue;
#endif
        const std::vector<Expected> expected = expected_of(entry.path());
        CAPTURE(entry.path().filename().string());
        REQUIRE(!expected.empty());
        ++files;
        const Report report = check(entry.path(), {}, 8, checks_for(expected));
        bool refused = false;
        for (const Expected& one : expected) {
            const bool found =
                std::any_of(report.findings.begin(), report.findings.end(),
                            [&](const Finding& finding) { return fits(one, finding); });
            CHECK_MESSAGE(found,
                          one.check << ": " << one.words << " was not found in" << text_of(report));
            refused |= one.verdict == "refused";
        }
        CHECK(report.passes == !refused);
        for (const Finding& finding : report.findings)
            if (finding.verdict == Verdict::refused)
                CHECK_MESSAGE(!(finding.remedy.empty() && finding.check != "host compiler"),
                              "nothing is said of what to do: " << finding.what);
    }
    CHECK(files >= 12);
}
