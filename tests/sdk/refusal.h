#pragma once
#include "tests/sdk/probe.h"
#include "tests/support/sanitized.h"

#include <doctest/doctest.h>
#include <future>

// A wrong author file, what both compilers must say of it, and the comparison.
namespace nacelle::test {

template <class AnyParts> struct Refusal {
    const char* name;
    AnyParts parts;
    const char* words;
};

inline void check_refusal(const std::string& what, const std::string& text, const char* words,
                          const std::string& compiler, const std::filesystem::path& author,
                          const Compiled& compiled) {
    CAPTURE(what);
    CAPTURE(compiler);
    const auto* const wrong = std::get_if<Diagnostics>(&compiled);
    CHECK_MESSAGE(wrong != nullptr, "this must not compile");
    if (!wrong) return;
    std::string shown;
    for (const Diagnostic& one : wrong->list)
        shown += "\n" + one.file + ":" + std::to_string(one.line) + ": " + one.message;
    CAPTURE(shown);
    CHECK(wrong->list.size() == 1);
    CHECK(wrong->list.front().file == author.string());
    CHECK(wrong->list.front().line == expected_line(text));
    CHECK_MESSAGE(contains(wrong->list.front().message, words), words);
}

// The compilers work side by side: what fails to compile is in no cache.
template <class AnyParts> void check_refusals(const std::vector<Refusal<AnyParts>>& all) {
    // What does not compile is not instrumented: two of them show that the engine takes it in.
    const std::vector<Refusal<AnyParts>> refusals = few_if_sanitized(all, {0, all.size() - 1});
    const Folder folder;
    std::vector<std::filesystem::path> authors;
    for (size_t i = 0; i < refusals.size(); ++i)
        authors.push_back(
            folder.write("probe" + std::to_string(i) + ".cu", refusals[i].parts.text()));
    std::vector<NamedCompiler> compilers = both_compilers();
    std::vector<std::future<std::vector<Compiled>>> results;
    for (NamedCompiler& one : compilers)
        results.push_back(std::async(std::launch::async, [&] {
            std::vector<Compiled> compiled;
            for (const std::filesystem::path& author : authors)
                compiled.push_back(one.compiler->compile(stepwise_program(author)));
            return compiled;
        }));
    for (size_t k = 0; k < compilers.size(); ++k) {
        const std::vector<Compiled> compiled = results[k].get();
        for (size_t i = 0; i < refusals.size(); ++i)
            check_refusal(refusals[i].name, refusals[i].parts.text(), refusals[i].words,
                          compilers[k].name, authors[i], compiled[i]);
    }
}

}
