#include "engine/plugins/run_hook.h"

#include "engine/plugins/config_text.h"

namespace nacelle {

void run_hook(Plugins& plugins, Environment& environment, const std::string& name,
              const Json& config, const std::filesystem::path& folder) {
    const auto library = plugins.find({"hook/1", name});
    const auto functions = library->table<nacelle_hook>(
        {"hook/1", name}, {{"loaded", offsetof(nacelle_hook, loaded)}});
    HostServices services(name, plugins, environment, HostServices::InstanceKind::hook);
    const std::string text = config_text(name, config);
    services.call(HostServices::CallContext::preparing, "loaded", [&] {
        return functions.loaded(services.table(), text.c_str(), folder.c_str()) == NACELLE_OK;
    });
}

}
