#pragma once
#include <string>

namespace nacelle::test {

// Records the running test case as skipped; a failed check in it still makes it a failed one.
void skip(const std::string& reason);

}

// Leaves the running test case, which then counts as skipped: for what this machine cannot do. The reason is one of
// tests/skip_reasons.txt, or the case has failed.
#define NACELLE_SKIP(reason)                                                                       \
    do {                                                                                           \
        ::nacelle::test::skip(reason);                                                             \
        return;                                                                                    \
    } while (false)
