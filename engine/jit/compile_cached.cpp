#include "engine/jit/compile_cached.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/jit/diagnostics.h"

#include <chrono>
#include <cstdint>
#include <cstring>

namespace nacelle {
namespace {

// An entry: the length of the warnings, the warnings, the image.
std::string packed(const Binary& product) {
    const uint64_t length = product.warnings.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + product.warnings + product.image;
}

std::optional<Binary> unpacked(const std::string& bytes) {
    uint64_t length = 0;
    if (bytes.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (bytes.size() - sizeof length < length) return std::nullopt;
    return Binary{.image = bytes.substr(sizeof length + length),
                  .from_cache = true,
                  .warnings = bytes.substr(sizeof length, length)};
}

void add_list(Hash& hash, const std::vector<std::string>& list) {
    hash.add(std::to_string(list.size()));
    for (const std::string& one : list) hash.add(one);
}

// The key: everything that changes the binary.
std::string cache_key(const ProgramSource& source, const std::vector<SourceFile>& closure,
                      const std::string& identity) {
    Hash hash;
    hash.add("program 1").add(identity).add(std::to_string(closure.size()));
    const std::filesystem::path first = closure.empty() ? "" : closure.front().path,
                                base = first.parent_path();
    for (const SourceFile& file : closure)
        hash.add(file.path.lexically_relative(base).string()).add(file.text);
    hash.add(std::to_string(source.headers.size()));
    for (const MemoryHeader& header : source.headers) hash.add(header.name).add(header.text);
    hash.add(source.instantiation);
    add_list(hash, source.defines);
    add_list(hash, source.options);
    // Debug information holds the paths of the author's files.
    for (const std::string& option : source.options)
        if (option.starts_with("-g")) hash.add(first.string());
    return hash.hex();
}

Compiled compile_one(Cache& cache, const std::string& identity, const ProgramSource& source,
                     const std::atomic<bool>* cancel, const BuildFunction& build) {
    const auto start = std::chrono::steady_clock::now();
    const auto timed = [&](Binary binary) {
        binary.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        return binary;
    };
    std::vector<SourceFile> closure = read_closure(source.author);
    for (int attempt = 0;; ++attempt) {
        if (cancel && *cancel) throw_cancelled(source);
        if (!closure.empty())
            if (auto wrong = check_author(closure)) return *std::move(wrong);
        const std::string key = cache_key(source, closure, identity);
        if (const auto kept = cache.find(key))
            if (auto binary = unpacked(*kept)) return timed(*std::move(binary));

        Compiled built = build(closure);
        std::vector<SourceFile> now = read_closure(source.author);
        const bool same = same_text(now, closure);
        if (!same && attempt < 3) {
            closure = std::move(now);
            continue;
        }
        if (std::holds_alternative<Diagnostics>(built)) return built;
        Binary& product = std::get<Binary>(built);
        if (same) cache.keep(key, packed(product));
        return timed(std::move(product));
    }
}

// What is wrong with a copy is told of the file that it was made from.
Compiled told_of_original(Compiled compiled, const ProgramSource& source) {
    auto* const wrong = std::get_if<Diagnostics>(&compiled);
    if (!wrong || source.copy_of.empty()) return compiled;
    const std::filesystem::path copies = source.author.parent_path(),
                                originals = source.copy_of.parent_path();
    for (const SourceFile& copy : read_closure(source.author))
        for (Diagnostic& one : wrong->list)
            if (one.file == copy.path)
                one.file = (originals / copy.path.lexically_relative(copies)).lexically_normal();
    return compiled;
}

}

std::optional<Binary> find_compiled(Cache& cache, const std::string& identity,
                                    const ProgramSource& source) {
    const auto kept = cache.find(cache_key(source, read_closure(source.author), identity));
    return kept ? unpacked(*kept) : std::nullopt;
}

Compiled compile_cached(Cache& cache, const std::string& full, const std::string& draft,
                        const ProgramSource& source, const std::atomic<bool>* cancel,
                        const BuildFunction& build) {
    if (!source.draft)
        return told_of_original(compile_one(cache, full, source, cancel, build), source);
    if (auto kept = find_compiled(cache, full, source)) return *std::move(kept);
    Compiled compiled = compile_one(cache, draft, source, cancel, build);
    if (auto* binary = std::get_if<Binary>(&compiled)) binary->draft = true;
    return told_of_original(std::move(compiled), source);
}

std::string include_line(const std::filesystem::path& author) {
    if (author.empty()) return {};
    const std::string path = std::filesystem::absolute(author).lexically_normal().string();
    if (path.find_first_of("\"\n") != path.npos)
        throw Error(path, "a path with a quote or a line's end cannot be compiled");
    return "#include \"" + path + "\"\n";
}

void throw_cancelled(const ProgramSource& source) {
    throw Error(source.author.string(), "the compile was cancelled");
}

}
