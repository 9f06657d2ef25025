#pragma once
#include <learn/gpu/dense/products.h>
// What a block of a cluster has of large products on Hopper.

namespace learn {

// Whether the parts of all of a policy's products for clusters have the same number of columns. Where the compiler knows
// that, nothing looks after others.
template <class E, int policy> constexpr bool has_like_parts() {
    constexpr int planes = Spec<policy>::planes;
    bool alike = true;
    const auto look = [&](uint64_t columns) {
        alike =
            alike && (!fits_clusters(columns, planes) || columns % cluster_columns(planes) == 0);
    };
    const auto look_at = [&]<class L>(const L&) {
        for (int m = 0; m < L::matrices; ++m) {
            look(uint64_t(L::matrix[m].in));
            look(uint64_t(L::matrix[m].out));
        }
    };
    look_at(typename Networks<E, policy>::Actor{});
    look_at(typename Networks<E, policy>::Critic{});
    return planes > 1 || alike;
}
// What a cluster's block has of a product. Unless they are alike, its parts share the columns out evenly, tile by tile.
template <int its_planes, bool are_alike> struct ClusterPart : ProductPart {
    static constexpr int planes = its_planes;
    static constexpr bool alike = are_alike;
    static constexpr uint32_t most = cluster_columns(planes) / tile_side;
    uint32_t tiles = most;    // across, at most

    NACELLE_INLINE ClusterPart(const ProductPart& part, uint32_t number) : ProductPart(part) {
        const uint32_t all = tiles_along(product->n), parts = (all + most - 1) / most,
                       least = all / parts, larger = all % parts;
        column = alike ? number * most : number * least + min(number, larger);
        if (!alike) tiles = least + (number < larger);
    }
    // Of columns(), by which one thread tells others.
    NACELLE_INLINE ClusterPart(const Product* of, uint32_t its_row, uint32_t columns,
                               uint32_t its_split)
        : ProductPart(of, its_row, alike ? columns : columns & 0xffff, its_split) {
        if (!alike) tiles = columns >> 16;
    }
    NACELLE_INLINE uint32_t columns() const { return alike ? column : column | tiles << 16; }
    // Whether it has another tile, of a matrix of so many across.
    NACELLE_INLINE bool has(uint32_t tile, uint32_t across) const {
        return alike ? column + tile < across : tile < tiles;
    }
    NACELLE_INLINE uint32_t end_tile() const {
        return alike ? min(column + most, tiles_along(product->n)) : column + tiles;
    }
    NACELLE_INLINE uint32_t end_column(uint32_t pitch) const {
        return alike ? pitch : min(pitch, (column + tiles) * tile_side);
    }
};
template <class E, int policy>
using PartOf = ClusterPart<Spec<policy>::planes, has_like_parts<E, policy>()>;
// Products of equal sizes lie beside each other as stripes of a part's columns.
template <class Part>
NACELLE_INLINE Part stripe_part(const Products& all, uint32_t stripe, uint32_t row) {
    constexpr uint32_t columns = Part::most * tile_side;
    const uint32_t across = (all.of[0].n + columns - 1) / columns;
    return {{all.of + stripe / across, row, 0, 0}, stripe % across};
}
// The part of a cluster's block: two blocks below each other are a part of the launch's products.
template <class Part>
NACELLE_INLINE Part cluster_part(const Products& all, uint32_t number, uint32_t rank) {
    if (all.stripes) {
        const uint32_t row = number / all.stripes * cluster_rows + rank * product_rows;
        return stripe_part<Part>(all, number % all.stripes, row / tile_side);
    }
    ProductPart part(all, number, Part::most * tile_side, cluster_rows);
    part.row += rank * (product_rows / tile_side);
    return {part, part.column / Part::most};
}
// Whether neither of its blocks has anything to do.
NACELLE_INLINE bool is_cluster_idle(const Products& all, const ProductPart& part, uint32_t rank) {
    const uint32_t row = part.row - rank * (product_rows / tile_side);
    return is_idle(all, row) &&
           (row + 2 >= 2 * blocks_down(part.product->m) || is_idle(all, row + 2));
}

}
