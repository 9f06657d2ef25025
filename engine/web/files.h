#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// A file that the server sends. It sends no others, whatever the path.
struct WebFile {
    std::string name, type;    // "page.css", "text/css; charset=utf-8"
    std::string text;
};

// The page, and the library that draws its charts where this machine has it.
std::vector<WebFile> web_files();
const WebFile* find_file(const std::vector<WebFile>& files, std::string_view name);

}
