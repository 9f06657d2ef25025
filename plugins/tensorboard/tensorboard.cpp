// Metrics as TensorBoard's event files. Each process that trains a run writes a file of its own,
// events.out.tfevents.1.nacelle, .2, ...: readers take all of a folder, in the order of their names.
#include "plugins/support/appended_file.h"
#include "plugins/support/settings.h"
#include "plugins/tensorboard/event.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nacelle/plugin/sink.h>
#include <optional>

namespace {

namespace fs = std::filesystem;
namespace plugin = nacelle::plugin;
using namespace nacelle::plugins::tensorboard;

double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// Wide enough that the names' order is that of the numbers.
fs::path next_file(const fs::path& folder) {
    for (int number = 1;; ++number) {
        char name[64];
        std::snprintf(name, sizeof name, "events.out.tfevents.%06d.nacelle", number);
        if (!fs::exists(folder / name)) return folder / name;
    }
}

class TensorBoard final {
public:
    static constexpr const char* name = "tensorboard";

    TensorBoard(plugin::Host, std::string_view text) {
        plugin::Config config(text);
        readings_.emplace(config);
        const fs::path out = config.text("out", ".");
        config.finish();
        file_ = std::make_unique<nacelle::plugins::AppendedFile>(next_file(out));
        file_->add(record(first_event(now())));
        file_->flush();
    }

    void write(uint64_t step, std::span<const char* const> names, std::span<const double> values) {
        if (!readings_->takes(step)) return;
        file_->add(record(scalars_event(now(), step, names, values)));
    }
    void flush() { file_->flush(); }
    void rewind(uint64_t step) {
        readings_->rewind(step);
        file_->add(record(restart_event(now(), step + 1)));
    }

private:
    std::optional<nacelle::plugins::Readings> readings_;
    std::unique_ptr<nacelle::plugins::AppendedFile> file_;
};

}

NACELLE_PLUGIN("nacelle.tensorboard", "1.0.0", "Metrics as TensorBoard's event files",
               nacelle::plugin::Sink<TensorBoard>)
