#include <doctest/doctest.h>
#include <nacelle/device/team/shape.h>

using nacelle::detail::most_spare, nacelle::detail::room_of_warp, nacelle::detail::stage_floats,
    nacelle::detail::stage_of;

TEST_CASE("stages that share a multiprocessor find room in it, whatever a row's width") {
    int checked = 0, over = 0, wasted = 0;
    for (const int shared : {64 * 1024, 99 * 1024, 163 * 1024, 227 * 1024})
        for (int warps = 2; warps <= 32; ++warps)
            for (int memory = 16; memory < shared; memory += 16) {
                const int blocks = warps < 8 ? 8 / warps : 1,
                          room = room_of_warp(warps, memory, shared);
                if (room == stage_floats) continue;    // wishes for no more than the usual
                const auto bytes = [&](int floats) {
                    return blocks * (1024 + memory + warps * stage_of(floats, most_spare) * 4);
                };
                // A row fills the room, or stays a few numbers below it.
                for (int floats = room - 4; floats <= room; ++floats, ++checked)
                    over += bytes(floats) > shared + 1024;
                wasted += bytes(room + 1) <= shared + 1024;
            }
    CHECK(checked > 100000);
    CHECK(over == 0);
    CHECK(wasted == 0);
}
