#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include <doctest/doctest.h>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Counts {
    int passed = 0, failed = 0, skipped = 0;
};

Counts counts;
std::string skip_reason;
bool skipped = false;
std::vector<std::string> left_out;    // of the running test case

// Counts test cases as doctest reports them, with a third outcome of its own: skipped at run time.
class Counter final : public doctest::IReporter {
public:
    explicit Counter(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& data) override {
        name_ = data.m_name;
        skipped = false;
        left_out.clear();
    }
    void test_case_end(const doctest::CurrentTestCaseStats& end) override {
        if (!end.testCaseSuccess) ++counts.failed;
        else if (skipped) count_skipped(name_, skip_reason);
        else ++counts.passed;
        for (const std::string& reason : left_out) count_skipped(name_, reason);
    }
    void test_case_skipped(const doctest::TestCaseData& data) override {
        if (data.m_skip) count_skipped(data.m_name, "marked so");
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}

private:
    static void count_skipped(const char* name, const std::string& reason) {
        ++counts.skipped;
        std::cout << "skipped: " << name << ": " << reason << '\n';
    }

    const char* name_ = "";
};

}

namespace nacelle::test {

void skip(const std::string& reason) {
    skipped = true;
    skip_reason = reason;
}

void leave_out(const std::string& reason) { left_out.push_back(reason); }

}

REGISTER_LISTENER("counter", 1, Counter);

int main(int argc, char** argv) {
    doctest::Context context;
    context.setOption("no-intro", true);
    context.setOption("no-version", true);
    context.setOption("minimal", true);    // the line below says the same and more
    context.applyCommandLine(argc, argv);
    const int result = context.run();
    if (context.shouldExit()) return result;
    std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped
              << " skipped" << std::endl;
    return result;
}
