#pragma once

// What makers of loop nests share: loops that know their dimensions, and lines made of them.

#include "learning/schedules/schedule_nest.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct MadeLoop {
    std::string name;
    NestExtents extents = noExtents;
    bool known = true;  ///< whether the extents are
    LoopMark mark = LoopMark::Serial;
    std::string axis;
};

/// `row`, and with its place among several parts `row_1`.
std::string loopName(NestDimension dimension, std::optional<std::size_t> part);

/// Writes loops and statements one by one; loops nest.
class LoopWriter {
public:
    explicit LoopWriter(const TensorWork& work) : work_(work) {}
    void loop(const MadeLoop& loop);
    void statement(std::string text);
    /// The multiply-adds: loops that are open lead to them.
    void multiplyAdd();
    /// Leaves loops until as many are open as then.
    std::size_t open() const { return open_.size(); }
    void closeTo(std::size_t open);
    std::vector<NestLine> take();

private:
    struct Open {
        MadeLoop loop;
        std::optional<std::size_t> line;  ///< none: of one step, not written
    };
    int depth() const;

    TensorWork work_;  // a copy: it is often made on the spot
    std::vector<NestLine> lines_;
    std::vector<Open> open_;
};

/// The program of an Ansor record; none where a step is of a kind that is not followed, or makes more than 1000 lines.
std::optional<ScheduleNest> ansorNest(const TunedRow& row);

}  // namespace orrery
