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

// Everything that changes the binary but the compiler.
std::string content_of(const ProgramSource& source, const std::vector<SourceFile>& closure) {
    Hash hash;
    hash.add("program 2").add(std::to_string(closure.size()));
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
std::string key_of(const std::string& identity, const std::string& content) {
    return Hash().add(identity).add(content).hex();
}

bool can_be_cached(const ProgramSource& source, const std::vector<SourceFile>& closure) {
    std::set<std::string> carried;
    for (const MemoryHeader& header : source.headers) carried.insert(header.name);
    return is_self_contained(closure, carried);
}

Compiled compile_one(Cache& cache, const std::string& full, const std::string& draft,
                     const ProgramSource& source, const std::atomic<bool>* cancel,
                     const BuildFunction& build) {
    const auto start = std::chrono::steady_clock::now();
    const auto timed = [&](Binary binary, bool is_draft) {
        binary.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        binary.draft = is_draft;
        return binary;
    };
    std::vector<SourceFile> closure = read_closure(source.author);
    for (int attempt = 0;; ++attempt) {
        if (cancel && *cancel) throw_cancelled(source);
        if (!closure.empty())
            if (auto wrong = check_author(closure)) return *std::move(wrong);
        const bool cached = can_be_cached(source, closure);
        const std::string content = content_of(source, closure),
                          key = cached ? key_of(source.draft ? draft : full, content) : "";
        if (cached && source.draft)
            if (auto kept = find_compiled(cache, key_of(full, content)))
                return timed(*std::move(kept), false);
        if (cached)
            if (auto kept = find_compiled(cache, key)) return timed(*std::move(kept), source.draft);

        Compiled built = build(closure, key);
        std::vector<SourceFile> now = read_closure(source.author);
        const bool same = same_text(now, closure);
        if (!same && attempt < 3) {
            closure = std::move(now);
            continue;
        }
        if (std::holds_alternative<Diagnostics>(built)) return built;
        Binary& product = std::get<Binary>(built);
        if (cached && same) cache.keep(key, packed(product));
        return timed(std::move(product), source.draft);
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

std::optional<Binary> find_compiled(Cache& cache, const std::string& key) {
    const auto kept = cache.find(key);
    return kept ? unpacked(*kept) : std::nullopt;
}
std::optional<Binary> find_compiled(Cache& cache, const std::string& identity,
                                    const ProgramSource& source) {
    const std::vector<SourceFile> closure = read_closure(source.author);
    if (!can_be_cached(source, closure)) return std::nullopt;
    return find_compiled(cache, key_of(identity, content_of(source, closure)));
}

Compiled compile_cached(Cache& cache, const std::string& full, const std::string& draft,
                        const ProgramSource& source, const std::atomic<bool>* cancel,
                        const BuildFunction& build) {
    return told_of_original(compile_one(cache, full, draft, source, cancel, build), source);
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
