#include "engine/check/run_checks.h"

#include "engine/base/error.h"
#include "engine/check/checks.h"

#include <algorithm>

namespace nacelle {
namespace {

Finding run_one(const Check& check, Session& session) {
    try {
        return check.run(session);
    } catch (const Error& error) {
        // An error of the configuration is not an error of the environment.
        if (error.where() == session.subject().settings.where && error.reason().starts_with("env."))
            throw;
        return refused(error.what(), {});
    }
}

// Whether a check is selected: all are where none is named, and the first always is, since the others need the
// schema.
bool is_wanted(const std::vector<std::string>& only, const Check& check) {
    return only.empty() || &check == &all_checks().front() ||
           std::find(only.begin(), only.end(), check.name) != only.end();
}

}

void run_checks(Subject subject, const std::vector<std::string>& only, const Tell& tell) {
    Session session(std::move(subject), tell);
    bool sound = true;
    int left = 0;
    for (const Check& check : all_checks()) {
        if (!is_wanted(only, check)) continue;
        if (!sound && !check.basis) {
            ++left;
            continue;
        }
        session.begin(check.name);
        Finding finding = run_one(check, session);
        finding.check = check.name;
        tell({{"finding", as_json(finding)}});
        if (finding.verdict != Verdict::refused) continue;
        // Without a build that loads there is nothing to check.
        if (!session.knows_schema()) return;
        sound &= !check.basis;
    }
    if (!left) return;
    Finding rest = skipped(std::to_string(left) + " checks compare runs and wait for the above");
    rest.check = "the rest";
    tell({{"finding", as_json(rest)}});
}

}
