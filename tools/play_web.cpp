#include "tools/play_web.h"

#include "engine/watch/local_viewer.h"
#include "tools/interrupt.h"

#include <thread>

namespace nacelle::tools {

void play_on_page(RecordingFrames& frames, const PlayerSettings& settings, const WebOptions& web,
                  bool json) {
    Sections sections;
    const auto viewer = std::make_shared<LocalViewer>(sections);
    RecordingPlayer view(frames, viewer, settings);
    listen_for_signals();
    const std::unique_ptr<WebServer> page = open_page(
        web, sections, [&] { viewer->look(); }, [&](const std::string& said) { viewer->ask(said); },
        json);
    while (!interrupted()) {
        view.turn();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}
