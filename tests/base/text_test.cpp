#include "engine/base/text.h"

#include <doctest/doctest.h>

using namespace nacelle;

TEST_CASE("text that is UTF-8 stays as it is, and every other byte is replaced") {
    const std::string mark = "\xef\xbf\xbd";
    for (const std::string good :
         {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x7f\t"}) {
        CHECK(valid_utf8(good) == good);
        CHECK(is_valid_utf8(good));
    }
    CHECK(valid_utf8("caf\xe9!") == "caf" + mark + "!");
    CHECK(valid_utf8("\xc3") == mark);
    CHECK(valid_utf8("\xc0\xaf") == mark + mark);               // an overlong slash
    CHECK(valid_utf8("\xed\xa0\x80") == mark + mark + mark);    // half of a surrogate pair
    CHECK(valid_utf8("\xf5\x80\x80\x80").size() == 4 * mark.size());
    CHECK(valid_utf8("\xe2\x82x") == mark + mark + "x");
    CHECK_FALSE(is_valid_utf8("a\xff"));
}

TEST_CASE("what a terminal would obey is written out") {
    CHECK(printable("one\ntwo\tthree") == "one\ntwo\tthree");
    CHECK(printable("\x1b]0;mine\x07") == "\\x1b]0;mine\\x07");
    CHECK(printable("\xc2\x9b"
                    "2J \x7f\r") == "\\x9b2J \\x7f\\x0d");    // the second set, in UTF-8
    CHECK(printable("\x9b") == "\xef\xbf\xbd");
    CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
    CHECK(printable("pole\xe2\x80\xae\xe2\x81\xa6txt") ==
          "pole\\u202e\\u2066txt");    // from right to left
    CHECK(is_printable_line("a caf\xc3\xa9"));
    for (const std::string bad :
         {"a\nb", "\x1b[2J", "\xff", "\xc2\x85", "\xe2\x80\xae", "\xe2\x80\xa8"})
        CHECK_FALSE(is_printable_line(bad));
}

TEST_CASE("a word of a recommended command is one word for a shell") {
    CHECK(shell_word("runs/cartpole-1") == "runs/cartpole-1");
    CHECK(shell_word("gr\xc3\xb6\xc3\x9f"
                     "e.json") == "gr\xc3\xb6\xc3\x9f"
                                  "e.json");
    CHECK(shell_word("my pole-1") == "\"my pole-1\"");
    CHECK(shell_word("") == "\"\"");
    CHECK(shell_word("a;rm -r $HOME`\"\\") == "\"a;rm -r \\$HOME\\`\\\"\\\\\"");
}
