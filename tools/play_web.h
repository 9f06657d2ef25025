#pragma once
#include "engine/watch/film_view.h"
#include "tools/web.h"

namespace nacelle::tools {

// Plays a recording on a page until somebody interrupts.
void play_on_page(Film& film, const FilmViewSettings& settings, const WebOptions& web, bool json);

}
