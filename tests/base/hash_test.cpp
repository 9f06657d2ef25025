#include "engine/base/hash.h"

#include <doctest/doctest.h>
#include <random>
#include <set>
#include <string>

using nacelle::Hash;

TEST_CASE("the hash is FNV-1a over each length and text") {
    // From an independent implementation with arbitrary-precision integers.
    CHECK(Hash().hex() == "6c62272e07bb014262b821756295c58d");
    CHECK(Hash().add("").hex() == "9d30c1f78465995be47dda5e4e4e77ed");
    CHECK(Hash().add("hello").add("world").hex() == "410662ae3e14cea7fe33fbced6fd9e5b");
}

TEST_CASE("where one text ends and the next begins is part of the hash") {
    CHECK(Hash().add("ab").add("c").hex() != Hash().add("a").add("bc").hex());
    CHECK(Hash().add("abc").hex() != Hash().add("abc").add("").hex());
    CHECK(Hash().add(std::string(1, '\0')).hex() != Hash().add("").hex());
}

TEST_CASE("every flipped bit of a text changes its hash") {
    std::mt19937 random(std::random_device{}());
    std::string text(64, ' ');
    for (char& letter : text) letter = static_cast<char>(random());
    std::set<std::string> seen{Hash().add(text).hex()};
    for (size_t bit = 0; bit < text.size() * 8; ++bit) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        CHECK(seen.insert(Hash().add(changed).hex()).second);
    }
}

TEST_CASE("what is written as a hash is told by its digits") {
    CHECK(nacelle::is_hex(Hash().add("hello").hex(), 32));
    CHECK_FALSE(nacelle::is_hex(Hash().add("hello").hex(), 31));
    CHECK_FALSE(nacelle::is_hex("00ff0g", 6));
    CHECK_FALSE(nacelle::is_hex("00FF", 4));
}
