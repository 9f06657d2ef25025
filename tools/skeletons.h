#pragma once
#include <span>

namespace nacelle::tools {

// A file of tools/skeletons as this binary carries it: "skeletons/alone.cu", and its text.
struct SkeletonFile {
    const char* name;
    const char* text;
};

std::span<const SkeletonFile> skeleton_files();

}
