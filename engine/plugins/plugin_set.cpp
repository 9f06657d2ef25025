#include "engine/plugins/plugin_set.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/suggest.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

PluginManifest manifest_of(const fs::path& path, const std::string& file) {
    return read_manifest(std::as_bytes(std::span(file)), path.filename().string());
}

// "sink" of "sink/1"
std::string family(const std::string& kind) { return kind.substr(0, kind.find('/')); }

// The library of these is large, so that a build may be without it.
bool is_on_libtorch(const PluginOffer& offer) {
    const std::string kind = family(offer.kind);
    return (kind == "learner" && offer.name.starts_with("torch_")) ||
           (kind == "communicator" && offer.name == "gloo");
}
constexpr const char* libtorch_advice =
    "'tools/nacelle torch' installs LibTorch and builds what is on it";

constexpr size_t most_of_a_plugin = size_t(1) << 30;

PluginFile look_at(const fs::path& path) {
    try {
        return {path, manifest_of(path, read_plain_file(path, most_of_a_plugin)), {}};
    } catch (const Error& error) {
        return {path, std::nullopt, error.reason()};
    }
}

}

Plugins::Plugins(std::vector<fs::path> folders, std::shared_ptr<Cache> cache, Log log)
    : folders_(std::move(folders)),
      cache_(std::move(cache)),
      log_(std::move(log)),
      arrays_(std::make_shared<std::set<const NamedArray*>>()) {}

// Sorted within each folder, so that precedence does not depend on the file system.
std::vector<fs::path> Plugins::files() const {
    std::vector<fs::path> all;
    for (const fs::path& folder : folders_) {
        std::vector<fs::path> here;
        std::error_code trouble;
        for (fs::directory_iterator i(folder, trouble), end; !trouble && i != end;
             i.increment(trouble))
            if (i->path().extension() == ".so")
                here.push_back(fs::absolute(i->path()).lexically_normal());
        std::sort(here.begin(), here.end());
        for (fs::path& path : here)
            if (std::find(all.begin(), all.end(), path) == all.end())
                all.push_back(std::move(path));
    }
    return all;
}

std::vector<PluginFile> Plugins::list() const {
    std::vector<PluginFile> found;
    std::vector<fs::path> paths;
    for (const auto& library : named_) {
        found.push_back({library->path(), library->manifest(), {}});
        paths.push_back(library->path());
    }
    for (const fs::path& path : files())
        if (std::find(paths.begin(), paths.end(), path) == paths.end())
            found.push_back(look_at(path));
    return found;
}

std::shared_ptr<const PluginLibrary> Plugins::open(const fs::path& path, const std::string& file,
                                                   PluginManifest manifest) {
    auto& there = open_[manifest.id];
    if (!there || there->content() != content_of(file))
        there = std::make_shared<const PluginLibrary>(path, file, std::move(manifest), *cache_);
    return there;
}

const PluginManifest& Plugins::load(const fs::path& path) {
    const fs::path whole = fs::absolute(path).lexically_normal();
    const std::string file = read_plain_file(whole, most_of_a_plugin);
    auto library = open(whole, file, manifest_of(whole, file));
    std::erase_if(
        named_, [&](const auto& other) { return other->manifest().id == library->manifest().id; });
    named_.insert(named_.begin(), std::move(library));
    return named_.front()->manifest();
}

std::shared_ptr<const PluginLibrary> Plugins::find(const PluginOffer& wanted) {
    for (const auto& library : named_)
        if (library->manifest().offers_one(wanted)) return library;
    for (const fs::path& path : files()) {
        std::string file;
        PluginManifest manifest;
        try {
            file = read_plain_file(path, most_of_a_plugin);
            manifest = manifest_of(path, file);
        } catch (const Error&) {
            continue;    // not openable: list() says why
        }
        if (!manifest.offers_one(wanted)) continue;
        try {
            return open(path, file, std::move(manifest));
        } catch (const Error& error) {
            if (!is_on_libtorch(wanted)) throw;
            throw Error(error.where(), error.reason(), libtorch_advice);
        }
    }
    fail_to_find(wanted);
}

void Plugins::fail_to_find(const PluginOffer& wanted) const {
    std::vector<std::string> names;
    for (const PluginFile& file : list()) {
        // The likeliest reasons first: the file is there and refused, or of another revision.
        if (!file.manifest && file.path.stem() == wanted.name)
            throw Error(file.path.filename(), file.refused);
        if (!file.manifest) continue;
        for (const auto& [kind, name] : file.manifest->offers) {
            if (kind == wanted.kind) names.push_back(name);
            else if (name == wanted.name && family(kind) == family(wanted.kind))
                throw Error(file.path.filename(), "offers '" + name + "' as " + kind +
                                                      "; this host speaks " + wanted.kind);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const bool lacks_libtorch =
        is_on_libtorch(wanted) && std::none_of(names.begin(), names.end(), [&](const auto& name) {
            return is_on_libtorch({wanted.kind, name});
        });
    std::string instead = lacks_libtorch ? libtorch_advice : suggest(wanted.name, names);
    if (instead.empty()) {
        instead = "no plugin of that kind was found";
        for (const fs::path& folder : folders_)
            instead += (&folder == &folders_.front() ? " in " : ", ") + folder.string();
    }
    throw Error(wanted.name, "there is no such " + family(wanted.kind), instead);
}

}
