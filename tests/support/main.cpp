#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/support/on_gpu.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include <doctest/doctest.h>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

using nacelle::test::by_name_suite;
using nacelle::test::gpu_suite;
using nacelle::test::thorough_suite;

namespace {

struct Counts {
    int passed = 0, failed = 0, skipped = 0;
};

Counts counts;
std::string skip_reason;
bool skipped = false;
std::vector<std::string> left_out;    // of the running test case

// Seconds of processors until now, with those of processes that have ended.
double processor_seconds() {
    double seconds = 0;
    for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        ::getrusage(whose, &usage);
        for (const timeval& part : {usage.ru_utime, usage.ru_stime})
            seconds += double(part.tv_sec) + 1e-6 * double(part.tv_usec);
    }
    return seconds;
}
constexpr double long_case = 2;    // seconds of processors

// True if the reason for a skip is a missing GPU. These are the words of open_device().
bool wants_gpu(std::string_view reason) {
    return reason.starts_with("no GPU") || reason.starts_with("cuda: ");
}

// Counts test cases as doctest reports them, with a third outcome of its own: skipped at run time.
class Counter final : public doctest::IReporter {
public:
    explicit Counter(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& data) override {
        name_ = data.m_name;
        on_gpu_ = std::string_view(data.m_test_suite).ends_with(gpu_suite);
        skipped = false;
        left_out.clear();
        began_ = processor_seconds();
    }
    void test_case_end(const doctest::CurrentTestCaseStats& end) override {
        if (!end.testCaseSuccess) ++counts.failed;
        else if (skipped) count_skipped(name_, skip_reason);
        else ++counts.passed;
        for (const std::string& reason : left_out) count_skipped(name_, reason);
        const double seconds = processor_seconds() - began_;
        if (seconds > long_case)
            std::cout << "took " << std::fixed << std::setprecision(1) << seconds << " s: " << name_
                      << '\n';
    }
    void test_case_skipped(const doctest::TestCaseData& data) override {
        if (!data.m_skip) return;
        const std::string_view suite = data.m_test_suite;
        if (suite.starts_with(by_name_suite))
            count_skipped(data.m_name, "takes long; the name of its part runs it");
        else if (suite.starts_with(thorough_suite))
            count_skipped(data.m_name,
                          "takes long; tools/nacelle test --all runs it without sanitizers");
        else count_skipped(data.m_name, "marked so");
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
    void count_skipped(const char* name, const std::string& reason) const {
        if (wants_gpu(reason) && !on_gpu_) {
            ++counts.failed;
            std::cout << "ERROR: " << name
                      << ": wants a GPU and is not marked by on_gpu(), so that "
                      << "no machine with a GPU runs it: " << reason << '\n';
            return;
        }
        ++counts.skipped;
        std::cout << "skipped: " << name << ": " << reason << '\n';
    }

    const char* name_ = "";
    bool on_gpu_ = false;
    double began_ = 0;
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
    return counts.failed > 0 ? 1 : result;
}
