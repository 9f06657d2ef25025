#include "tools/private_output.h"

#include "engine/base/files.h"
#include "engine/jit/cache.h"

namespace nacelle::tools {

PrivateOutput::PrivateOutput(std::filesystem::path target)
    : target_(std::move(target)), folder_(Cache::private_files()) {
    const UnfinishedFile probe(target_);
}
void PrivateOutput::take_place() const { write_copy(target_, path()); }

}
