// Connect Four: two players drop stones into a board of 7 columns and 6 rows; four in a row wins.
//
// Who starts is drawn at random; then the players take turns. The player whose turn it is acts, the
// other waits, and what the waiting one chose is ignored. A stone falls to the lowest free cell of
// the chosen column. Four or more stones of one player in a line, upright, level or diagonal, end
// the game: the winner gets +1, the other -1. A full board without such a line ends it too: both
// get draw_reward. Every other reward is 0. The mask forbids full columns to the player who acts; who
// chooses one in spite of it places no stone and loses at once: -1, and +1 for the other.
//
// With `opening` above 0 a game in training begins after 0 to so many random moves, drawn evenly, by both in
// turn, each into one of the columns that are open and end no game. So policies that learn by playing
// themselves see more than the few games that they would play. Evaluations and matches begin with an
// empty board.
//
// State: the stones of player i are the bits of stones[i], bit 7 * column + row, with column 0 on
// the left and row 0 at the bottom; a seventh row, always empty, keeps lines from running on from
// one column into the next. After each choice, the last one too, `moves` is one higher and
// `to_move` is the other player. `winner` is -1 while nobody has won.
//
// Observation: a 0 or 1 for each cell, first the own stones, then the other's, each column after
// column from the left and in a column from the bottom; then 1 if it is the own turn, else 0.
#include <nacelle/env.h>

struct ConnectFour {
    static constexpr int agents = 2, columns = 7, rows = 6;

    struct Params {
        float draw_reward = 0.0f;
        int opening = 0;
    };
    struct State {
        uint64_t stones[2];
        int to_move, moves, winner;
    };
    struct Agent {};
    struct Action {
        nacelle::Discrete<columns> column;
    };
    struct Obs {
        float mine[columns][rows], theirs[columns][rows], my_turn;
    };
    struct Log {
        float moves, starter_wins, draws;
    };

    using Team = nacelle::Team<ConnectFour>;
    using Member = nacelle::Member<ConnectFour>;

    static void reset(Team& team, const Params& p) {
        team.once([&](State& s, nacelle::Rng& rng) {
            s = {.stones = {0, 0}, .to_move = rng.below(2), .moves = 0, .winner = -1};
            const bool opens = p.opening > 0 && team.episode().progress < 1;
            const int moves = opens ? rng.below(p.opening + 1) : 0;
            while (s.moves < moves && s.moves < columns * rows - 1)
                if (!place_at_random(s, rng)) break;
        });
    }

    static nacelle::Ending step(Team& team, const Params& p) {
        team.once([&](State& s) {
            const int player = s.to_move;
            const uint64_t stone = landing(s, team[player].action.column);
            s.stones[player] |= stone;
            s.to_move = 1 - player;
            ++s.moves;
            if (stone == 0) s.winner = s.to_move;
            if (four(s.stones[player])) s.winner = player;
        });

        const State& now = team.state();
        const bool won = now.winner >= 0, full = now.moves == columns * rows;
        team.each([&](Member& me) {
            me.reward = won ? (me.id == now.winner ? 1.0f : -1.0f) : full ? p.draw_reward : 0.0f;
        });
        return won || full ? nacelle::Ending::terminated : nacelle::Ending::running;
    }

    static nacelle::Turn turn(const Team& team, const Member& me, const Params&) {
        return me.id == team.state().to_move ? nacelle::Turn::acts : nacelle::Turn::waits;
    }
    static void mask(const Team& team, const Member&, const Params&, nacelle::Mask<Action>& allow) {
        for (int c = 0; c < columns; ++c)
            if (landing(team.state(), c) == 0) allow.forbid(&Action::column, c);
    }

    static void observe(const Team& team, const Member& me, const Params&, Obs& obs) {
        const State& s = team.state();
        for (int c = 0; c < columns; ++c)
            for (int r = 0; r < rows; ++r) {
                const int bit = 7 * c + r;
                obs.mine[c][r] = float(s.stones[me.id] >> bit & 1);
                obs.theirs[c][r] = float(s.stones[1 - me.id] >> bit & 1);
            }
        obs.my_turn = float(me.id == s.to_move);
    }

    static Log report(const Team& team, const Params&) {
        const State& s = team.state();
        const int starter = s.moves % 2 ? 1 - s.to_move : s.to_move;
        return {float(s.moves), float(s.winner == starter), float(s.winner < 0)};
    }

    static void draw(nacelle::Canvas& canvas, const Team& team, const Params&) {
        namespace colours = nacelle::colours;
        const State& s = team.state();
        canvas.view(0, 0, columns, rows);
        canvas.box(0, 0, columns, rows, colours::blue);
        for (int c = 0; c < columns; ++c)
            for (int r = 0; r < rows; ++r) {
                const int bit = 7 * c + r;
                const bool red = s.stones[0] >> bit & 1, yellow = s.stones[1] >> bit & 1;
                canvas.disc(float(c) + 0.5f, float(r) + 0.5f, 0.4f,
                            red      ? colours::red
                            : yellow ? colours::yellow
                                     : colours::white);
            }
    }

    // Where a stone dropped into the column comes to rest, or 0 if the column is full. Adding a
    // one at the bottom of a column's stones carries up to the first free cell.
    static uint64_t landing(const State& s, int column) {
        const uint64_t taken = s.stones[0] | s.stones[1], bottom = 1ull << 7 * column;
        const uint64_t cells = bottom * 0x3f;
        return ((taken & cells) + bottom) & cells;
    }
    // A stone of who is to move, into a column where that ends no game; false where there is none.
    static bool place_at_random(State& s, nacelle::Rng& rng) {
        uint64_t chosen = 0;
        int found = 0;
        for (int c = 0; c < columns; ++c) {
            const uint64_t stone = landing(s, c);
            if (stone == 0 || four(s.stones[s.to_move] | stone)) continue;
            if (rng.below(++found) == 0) chosen = stone;
        }
        if (chosen == 0) return false;
        s.stones[s.to_move] |= chosen;
        s.to_move = 1 - s.to_move;
        ++s.moves;
        return true;
    }
    // Neighbours in a line are 1 (upright), 6 and 8 (diagonal) or 7 (level) bits apart.
    static bool four(uint64_t stones) {
        bool found = false;
        for (const int apart : {1, 6, 7, 8}) {
            const uint64_t pairs = stones & stones >> apart;
            found = found || (pairs & pairs >> 2 * apart);
        }
        return found;
    }
};
NACELLE_ENV(ConnectFour)
