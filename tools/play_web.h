#pragma once
#include "engine/watch/recording_player.h"
#include "tools/web.h"

namespace nacelle::tools {

// Plays a recording on a page until an interrupt.
void play_on_page(RecordingFrames& frames, const PlayerSettings& settings, const WebOptions& web,
                  bool json);

}
