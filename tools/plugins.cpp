#include "engine/base/text.h"
#include "engine/plugins/plugin_set.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

struct List {
    Options options;
};

Json describe(const PluginFile& file) {
    Json line = {{"path", file.path.string()}};
    if (!file.manifest) {
        line["refused"] = file.refused;
        return line;
    }
    line["id"] = file.manifest->id;
    line["version"] = file.manifest->version;
    line["description"] = file.manifest->description;
    for (const PluginOffer& offer : file.manifest->offers)
        line["offers"].push_back({{"kind", offer.kind}, {"name", offer.name}});
    return line;
}

void run(const List& list) {
    const Plugins plugins(plugin_folders(list.options),
                          std::make_shared<Cache>(Cache::default_directory()));
    for (const PluginFile& file : plugins.list()) {
        const Json line = describe(file);
        if (list.options.json) {
            print_json(line);
            continue;
        }
        const std::string path = printable(file.path.string());
        if (!file.manifest) {
            std::printf("%s\n  refused: %s\n", path.c_str(), printable(file.refused).c_str());
            continue;
        }
        std::string offers;
        for (const PluginOffer& offer : file.manifest->offers)
            offers += (offers.empty() ? "" : ", ") + offer.kind + " " + offer.name;
        std::printf("%s %s: %s\n  offers %s\n  %s\n", file.manifest->id.c_str(),
                    file.manifest->version.c_str(), file.manifest->description.c_str(),
                    offers.c_str(), path.c_str());
    }
}

}

void add_plugins(CommandLine& line) {
    auto list = std::make_shared<List>();
    Command command =
        line.add("plugins", "List the plugins that are found, and why others are refused");
    command.flag("--json", list->options.json,
                 "One JSON object per line, nothing else on standard output");
    command.option("--folder", list->options.plugin_folders, "Search this folder, too, and first")
        .existing_folder();
    command.run([list] { run(*list); });
}

}
