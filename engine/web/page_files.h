#pragma once
#include <span>

namespace nacelle {

// A file of engine/web/page as this binary carries it: "page/index.html", and its text.
struct PageFile {
    const char* name;
    const char* text;
};

std::span<const PageFile> page_files();

}
