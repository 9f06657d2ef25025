/* A plugin as it was compiled for version 1 of the boundary: its manifest, byte for byte, and no code. */
#include <stdint.h>

struct manifest_1 {
    char magic[8];
    uint32_t size, abi;
    char id[64], version[32], description[128], built_with[64];
    uint32_t offers;
    struct {
        char kind[32], name[32];
    } offer[16];
};
__attribute__((visibility("default"))) const struct manifest_1 nacelle_plugin = {
    "nacelle", sizeof(struct manifest_1), 1, "test.first_version", "1.0.0", "", "", 1, {{"sink/1", "first"}}};
__attribute__((visibility("default"))) const void* nacelle_plugin_get(const char* kind, const char* name) {
    return kind == name ? kind : 0;
}
