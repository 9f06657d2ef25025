// Find the goal in a house of 16 rooms, whose locked doors need the key of their colour.
//
// map(y, x) is Thing + 16 * colour + 128 * trodden, of 64 x 64 cells. Things: 0 wall, 1 floor,
// 2 door, 3 locked door, 4 key, 5 goal. The colour is 1 to 4 for locked doors and keys, otherwise
// 0. A cell is trodden when the agent has stood on it. The map's rim is wall.
//
// x grows to the east, y to the south. The agent faces 0 east, 1 north, 2 west or 3 south. Actions:
//   0 left      turns by a quarter: east, north, west, south, east
//   1 right     turns by a quarter the other way
//   2 forward   goes to the cell in front, unless that is a wall, a locked door or a key
//   3 pick up   takes the key in front: bit colour - 1 of `keys` is set
//   4 open      opens the locked door in front if its key is held; the key is kept
// A key taken leaves floor, a locked door opened becomes a door; neither has a colour, nor is it
// trodden before the agent enters. An action that is not possible changes nothing. The mask forbids
// 3 unless a key is in front, and 4 unless a locked door is in front and its key is held; the rest
// is always allowed. Every step costs step_cost, a key pays key_reward, entering a door's cell for the
// first time door_reward; entering the goal's cell pays 1 and ends the episode.
//
// The image turns with the agent, which stands in row 10, column 5 and looks towards row 0: row r,
// column c is the cell 10 - r ahead and c - 5 to the right, also behind walls. Its channels are
// thing, colour and trodden (0 or 1); outside the map all are 0. The other numbers, 0 or 1, say for
// each of the four colours whether its key is held.
//
// Building: walls every 16 cells make 4 x 4 rooms. From a random first one on, rooms are joined one
// after the other, by one door in a random place of the wall towards a neighbour that is joined
// already. A door is locked with probability `locked`. When a colour locks its first door, its key
// is laid in a room joined before the one behind that door: by induction every room can be reached.
// The goal lies in the room joined last, which has one door only, so that it blocks no way. The
// agent starts on a floor cell of the first room.
#include <nacelle/env.h>

struct Rooms {
    static constexpr int time_limit = nacelle::constant("time_limit", 1000);
    static constexpr int side = 64, room = 16, across = side / room;
    static constexpr int view = 11, colours = 4;
    enum Thing : uint8_t { wall, floor, door, locked, key, goal };
    enum Facing : uint8_t { east, north, west, south };

    struct Params { float locked = 0.3f, step_cost = 0.0005f, key_reward = 0.1f, door_reward = 0; };
    struct State {
        int x, y, keys;                                     // keys: one bit for each colour
        Facing facing;
        nacelle::Array<uint8_t, side, side> map;
    };
    struct Action { nacelle::Discrete<5> act; };            // left, right, forward, pick up, open
    struct Obs {
        nacelle::Array<uint8_t, view, view, 3> image;       // thing, colour, trodden
        float keys[colours];
    };
    struct Log { float solved, keys; };

    // What a byte of the map says.
    static Thing thing_of(uint8_t cell) { return Thing(cell & 15); }
    static int colour_of(uint8_t cell) { return cell >> 4 & 7; }
    // Its thing, colour or trodden: bits 0 to 3, 4 to 6, and 7. A GPU has many cells on their way at once where nothing
    // branches on what was read.
    static uint8_t part_of(uint8_t cell, int part) {
        return uint8_t(cell >> (4 * part - part / 2) & 15 >> part);
    }
    static uint8_t cell(Thing what, int colour = 0) { return uint8_t(what | colour << 4); }

    static int eastward(Facing f) { return (f == east) - (f == west); }
    static int southward(Facing f) { return (f == south) - (f == north); }
    static uint8_t in_front(const State& s) {
        return s.map(s.y + southward(s.facing), s.x + eastward(s.facing));
    }
    static bool opens(const State& s, uint8_t what) {
        return thing_of(what) == locked && (s.keys >> (colour_of(what) - 1) & 1);
    }
    static void enter(State& s, int x, int y) {
        s.x = x;
        s.y = y;
        s.map(y, x) = uint8_t(s.map(y, x) | 128);
    }

    static void reset(State& s, const Params& p, nacelle::Rng& rng) {
        s.map.fill([](int y, int x) -> uint8_t {
            const bool rim = x == side - 1 || y == side - 1;
            return rim || x % room == 0 || y % room == 0 ? wall : floor;
        });
        const int first = rng.below(across * across);
        int joined = 1 << first, last = first, laid = 0;    // one bit for each room, each colour
        for (int n = 1; n < across * across; ++n) {
            int from, to;
            do {
                from = any_room(joined, rng);
                to = neighbour(from, Facing(rng.below(4)));
            } while (to < 0 || (joined >> to & 1));

            const bool shut = rng.chance(p.locked);
            const int colour = 1 + rng.below(colours), bit = 1 << colour;
            if (shut && !(laid & bit)) put(s, any_room(joined, rng), cell(key, colour), rng);
            if (shut) laid |= bit;
            join(s, from, to, shut ? cell(locked, colour) : cell(door), rng);
            joined |= 1 << to;
            last = to;
        }
        put(s, last, cell(goal), rng);
        s.keys = 0;
        s.facing = Facing(rng.below(4));
        const Place start = put(s, first, cell(floor), rng);
        enter(s, start.x, start.y);
    }

    static nacelle::Outcome step(State& s, const Action& action, const Params& p, nacelle::Rng&) {
        const int x = s.x + eastward(s.facing), y = s.y + southward(s.facing);
        const uint8_t front = in_front(s);
        const Thing thing = thing_of(front);

        const bool goes = action.act == 2 && (thing == floor || thing == door || thing == goal);
        const bool takes = action.act == 3 && thing == key;
        const bool passes = goes && thing == door && part_of(front, 2) == 0;
        if (action.act == 0) s.facing = Facing((s.facing + 1) % 4);
        if (action.act == 1) s.facing = Facing((s.facing + 3) % 4);
        if (action.act == 4 && opens(s, front)) s.map(y, x) = cell(door);
        if (goes) enter(s, x, y);
        if (takes) {
            s.keys |= 1 << (colour_of(front) - 1);
            s.map(y, x) = cell(floor);
        }

        const bool solved = goes && thing == goal;
        const float found = (takes ? p.key_reward : 0.0f) + (solved ? 1.0f : 0.0f);
        const float passed = passes ? p.door_reward : 0.0f;
        return {.reward = found + passed - p.step_cost, .terminated = solved};
    }

    static void mask(const State& s, const Params&, nacelle::Mask<Action>& allow) {
        if (thing_of(in_front(s)) != key) allow.forbid(&Action::act, 3);
        if (!opens(s, in_front(s))) allow.forbid(&Action::act, 4);
    }

    static void observe(const State& s, const Params&, Obs& obs) {
        const int ax = eastward(s.facing), ay = southward(s.facing);
        obs.image.fill([&](int row, int column, int channel) -> uint8_t {
            const int ahead = view - 1 - row, right = column - view / 2;
            const int x = s.x + ahead * ax - right * ay, y = s.y + ahead * ay + right * ax;
            if (x < 0 || y < 0 || x >= side || y >= side) return 0;
            return part_of(s.map(y, x), channel);
        });
        for (int k = 0; k < colours; ++k) obs.keys[k] = float(s.keys >> k & 1);
    }

    static Log report(const State& s, const Params&) {
        int keys = 0;
        for (int k = 0; k < colours; ++k) keys += s.keys >> k & 1;
        return {float(thing_of(s.map(s.y, s.x)) == goal), float(keys)};
    }

    static void draw(nacelle::Canvas& canvas, const State& s, const Params&) {
        using namespace nacelle::colours;
        const nacelle::Colour things[] = {black, white, grey, grey, white, green};
        const nacelle::Colour paint[] = {white, red, yellow, purple, orange};
        canvas.view(0, 0, side, side);
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const uint8_t here = s.map(y, x);
                const float left = float(x), low = float(side - 1 - y);
                const nacelle::Colour thing = things[thing_of(here)];
                canvas.box(left, low, left + 1, low + 1,
                           here & 128 ? nacelle::mix(thing, blue, 0.3f) : thing);
                if (const int colour = colour_of(here))
                    canvas.disc(left + 0.5f, low + 0.5f, 0.5f, paint[colour]);
            }
        const float x = float(s.x) + 0.5f, y = float(side - s.y) - 0.5f;
        const float ahead = float(eastward(s.facing)), down = float(southward(s.facing));
        canvas.disc(x, y, 0.8f, blue);
        canvas.line(x, y, x + 1.5f * ahead, y - 1.5f * down, blue, 0.4f);
    }

    // Room r is in column r % across, row r / across, from the north west on.
    static int any_room(int joined, nacelle::Rng& rng) {
        int r;
        do r = rng.below(across * across);
        while (!(joined >> r & 1));
        return r;
    }
    static int neighbour(int r, Facing way) {               // or -1
        const int x = r % across + eastward(way), y = r / across + southward(way);
        return x >= 0 && y >= 0 && x < across && y < across ? y * across + x : -1;
    }
    struct Place { int x, y; };
    static Place put(State& s, int r, uint8_t what, nacelle::Rng& rng) {    // on a floor cell
        const int left = r % across * room + 1, top = r / across * room + 1;
        Place at;
        do at = {left + rng.below(room - 2), top + rng.below(room - 2)};
        while (thing_of(s.map(at.y, at.x)) != floor);
        s.map(at.y, at.x) = what;
        return at;
    }
    // The wall between two rooms is the west or north one of the room that has the higher number.
    static void join(State& s, int a, int b, uint8_t door, nacelle::Rng& rng) {
        const int r = nacelle::max(a, b), along = 1 + rng.below(room - 2);
        const bool beside = nacelle::abs(a - b) == 1;
        const int x = r % across * room + (beside ? 0 : along);
        const int y = r / across * room + (beside ? along : 0);
        s.map(y, x) = door;
    }
};
NACELLE_ENV(Rooms)
