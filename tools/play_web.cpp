#include "tools/play_web.h"

#include "engine/watch/board_viewer.h"
#include "tools/interrupt.h"

#include <thread>

namespace nacelle::tools {

void play_on_page(Film& film, const FilmViewSettings& settings, const WebOptions& web, bool json) {
    Board board;
    const auto viewer = std::make_shared<BoardViewer>(board);
    FilmView view(film, viewer, settings);
    listen_for_signals();
    const std::unique_ptr<WebServer> page = open_page(
        web, board, [&] { viewer->look(); }, [&](const std::string& said) { viewer->ask(said); },
        json);
    while (!interrupted()) {
        view.turn();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}
