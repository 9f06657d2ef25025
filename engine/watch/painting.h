#pragma once
#include "engine/view/drawing.h"
#include "engine/watch/texts.h"
#include "engine/watch/viewer.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace nacelle {

// Paints copies on a thread of its own and shows what comes of it. One at a time: a copy that comes
// while another is painted is refused, and nothing waits.
class Painting final {
public:
    struct Order {
        std::shared_ptr<Drawing> drawing;    // null: a picture of the arrays
        Scene scene;
        ArrayChoice arrays;
        std::string more;    // what else the picture's section says: "\"env\":3,"
    };

    explicit Painting(std::shared_ptr<Viewer> viewer);
    // A draw() that does not come back is left behind.
    ~Painting();
    Painting(const Painting&) = delete;
    Painting& operator=(const Painting&) = delete;

    bool busy() const;
    void paint(Order order);
    // That the last one took, with its texts.
    double seconds() const;

private:
    // Owned by the thread, too, which may outlive this.
    struct Shared {
        std::shared_ptr<Viewer> viewer;
        mutable std::mutex mutex;
        std::condition_variable wake;
        std::optional<Order> next;
        bool works = false, ends = false;
        double seconds = 0;
    };
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}
