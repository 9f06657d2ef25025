#pragma once
#include "engine/view/drawing.h"
#include "engine/watch/section_texts.h"
#include "engine/watch/viewer.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace nacelle {

// Paints copies on a thread of its own and shows the results. One at a time: a copy that comes while another is
// painted is refused, and nothing waits.
class PaintThread final {
public:
    struct Order {
        std::shared_ptr<Drawing> drawing;    // null: a picture of the arrays
        Scene scene;
        ArrayChoice arrays;
        std::string more;    // what else the picture's section says: "\"env\":3,"
    };

    explicit PaintThread(std::shared_ptr<Viewer> viewer);
    // Abandons a draw() that does not return.
    ~PaintThread();
    PaintThread(const PaintThread&) = delete;
    PaintThread& operator=(const PaintThread&) = delete;

    bool busy() const;
    void paint(Order order);
    // The time of the last picture and its texts.
    double seconds() const;

private:
    // Shared with the thread, which may outlive this object.
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
