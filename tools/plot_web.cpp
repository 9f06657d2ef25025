#include "tools/plot_web.h"

#include "engine/base/error.h"
#include "engine/run/directory.h"
#include "engine/run/metrics_file.h"
#include "engine/watch/section_texts.h"
#include "tools/interrupt.h"
#include "tools/run_curves.h"

#include <thread>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

// Reading long runs takes a tenth of a second: as often as a person wants to see it.
constexpr auto between_looks = std::chrono::milliseconds(1000),
               turn = std::chrono::milliseconds(50);

// Grows with the metrics of the runs and with their number.
uintmax_t amount_in(const std::vector<fs::path>& paths) {
    uintmax_t amount = 0;
    for (const RunGroup& group : run_groups(paths))
        for (const fs::path& run : group.runs) {
            std::error_code missing;
            const uintmax_t bytes =
                fs::file_size(metrics_file(run, run_configuration(run)), missing);
            amount += 1 + (missing ? 0 : bytes);
        }
    return amount;
}

std::string title_of(const std::vector<fs::path>& paths) {
    std::string title;
    for (const fs::path& path : paths) title += (title.empty() ? "" : ", ") + path.string();
    return title;
}

}

void plot_on_page(const std::vector<fs::path>& runs, const std::function<DisplayList()>& draw,
                  const WebOptions& web, bool json) {
    Sections sections;
    const auto show = [&] { sections.put("picture", "{" + picture_text(draw()) + "}"); };
    sections.put("status", json_text({{"mode", "plot"}, {"state", "runs"}}));
    sections.put("environment", json_text({{"name", title_of(runs)}}));
    uintmax_t shown = amount_in(runs);
    show();
    listen_for_signals();
    const std::unique_ptr<WebServer> page = open_page(web, sections, {}, {}, json);
    auto due = std::chrono::steady_clock::now() + between_looks;
    while (!interrupted()) {
        std::this_thread::sleep_for(turn);
        if (std::chrono::steady_clock::now() < due) continue;
        due = std::chrono::steady_clock::now() + between_looks;
        // What is wrong for a moment, such as a file that is just replaced, leaves the last picture.
        try {
            if (const uintmax_t now = amount_in(runs); now != shown) {
                show();
                shown = now;
            }
        } catch (const Error&) {}
    }
}

}
