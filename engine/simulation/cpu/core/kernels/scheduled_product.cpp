#include "simulation/cpu/core/kernels/scheduled_product.h"

#include "simulation/cpu/core/kernels/parts.h"

#include <cassert>

namespace orrery::pipeline {

namespace {

using parts::V;

// Where tasks, tiles and numbers of one product stand, in bytes.
class Writer {
public:
    Writer(const ProductSchedule& schedule, const Machine& machine)
        : s_(schedule),
          bytes_(registerBytes(machine, schedule.instructionSet)),
          vectors_(schedule.vectors(machine)),
          taskRows_(schedule.m / schedule.rowTasks),
          taskColumns_(schedule.n / schedule.columnTasks) {
        // A last vector may reach beyond a row.
        const auto array = [&](std::int64_t numbers) {
            return out_.array(static_cast<std::uint64_t>(4 * numbers + bytes_));
        };
        a_ = array(s_.batch * s_.m * s_.k), b_ = array(s_.batch * s_.k * s_.n), c_ = array(s_.batch * s_.m * s_.n);
        bRow_ = 4 * (s_.packed ? s_.columns : s_.n);
        bTile_ = 4 * (s_.packed ? s_.columns * s_.k : s_.columns);
    }

    // Tasks go along columns, then down rows, then over the batch; the core has the first of them.
    LoopNest write() {
        const std::int64_t across = s_.columnTasks, whole = s_.rowTasks * across;
        const std::int64_t batches = s_.tasks / whole, rows = s_.tasks % whole / across, rest = s_.tasks % across;
        if (batches > 0) tasks(batches, s_.rowTasks, across, 0, 0);
        if (rows > 0) tasks(1, rows, across, batches, 0);
        if (rest > 0) tasks(1, 1, rest, batches, rows);
        return out_.finish();
    }

private:
    struct Place {
        AffineAddress a, b, c;
    };

    void tasks(std::int64_t batches, std::int64_t down, std::int64_t across, std::int64_t fromBatch,
               std::int64_t fromRow) {
        Place at{a_.at(4 * (fromBatch * s_.m + fromRow * taskRows_) * s_.k), b_.at(4 * fromBatch * s_.k * s_.n),
                 c_.at(4 * (fromBatch * s_.m + fromRow * taskRows_) * s_.n)};
        int opened = nested(batches, [&](int d) {
            at.a = at.a.by(d, 4 * s_.m * s_.k), at.b = at.b.by(d, 4 * s_.k * s_.n), at.c = at.c.by(d, 4 * s_.m * s_.n);
        });
        opened += nested(
            down, [&](int d) { at.a = at.a.by(d, 4 * taskRows_ * s_.k), at.c = at.c.by(d, 4 * taskRows_ * s_.n); });
        opened += nested(across, [&](int d) {
            at.b = at.b.by(d, taskColumns_ / s_.columns * bTile_), at.c = at.c.by(d, 4 * taskColumns_);
        });
        task(at);
        for (int i = 0; i < opened; ++i) out_.close();
    }

    // A loop of one turn is not written.
    template <class Move>
    int nested(std::int64_t trips, Move&& move) {
        if (trips <= 1) return 0;
        move(out_.open(static_cast<std::uint64_t>(trips)));
        return 1;
    }

    void task(Place at) {
        int opened = 0;
        for (const TileLoop loop : s_.order) {
            switch (loop) {
                case TileLoop::Rows:
                    opened += nested(taskRows_ / s_.rows, [&](int d) {
                        at.a = at.a.by(d, 4 * s_.rows * s_.k), at.c = at.c.by(d, 4 * s_.rows * s_.n);
                    });
                    break;
                case TileLoop::Columns:
                    opened += nested(taskColumns_ / s_.columns,
                                     [&](int d) { at.b = at.b.by(d, bTile_), at.c = at.c.by(d, 4 * s_.columns); });
                    break;
                case TileLoop::Reduction:
                    opened += nested(s_.k / s_.depth, [&](int d) {
                        at.a = at.a.by(d, 4 * s_.depth), at.b = at.b.by(d, s_.depth * bRow_);
                    });
                    break;
            }
        }
        tile(at);
        for (int i = 0; i < opened; ++i) out_.close();
    }

    // Sums are registers of their own; where the reduction is cut they come from memory and go back there.
    void tile(const Place& at) {
        const auto sum = [&](std::int64_t i, std::int64_t j) {
            return static_cast<std::uint8_t>(V + i * vectors_ + j);
        };
        const auto weight = [](std::int64_t j) { return static_cast<std::uint8_t>(V + 40 + j); };
        for (std::int64_t i = 0; i < s_.rows; ++i) {
            for (std::int64_t j = 0; j < vectors_; ++j) {
                if (s_.depth < s_.k)
                    out_.load(sum(i, j), bytes_, at.c.at(4 * i * s_.n + j * bytes_));
                else
                    out_.compute(OpKind::VectorInteger, bytes_, sum(i, j), {});
            }
        }
        Place step = at;
        const int opened = nested(s_.depth / s_.unroll, [&](int d) {
            step.a = step.a.by(d, 4 * s_.unroll), step.b = step.b.by(d, s_.unroll * bRow_);
        });
        for (std::int64_t u = 0; u < s_.unroll; ++u) {
            for (std::int64_t j = 0; j < vectors_; ++j) out_.load(weight(j), bytes_, step.b.at(u * bRow_ + j * bytes_));
            for (std::int64_t i = 0; i < s_.rows; ++i) {
                const auto one = static_cast<std::uint8_t>(V + 100 + (i & 1));
                out_.load(one, 4, step.a.at(4 * (i * s_.k + u)));
                for (std::int64_t j = 0; j < vectors_; ++j)
                    out_.compute(OpKind::FpFma, bytes_, sum(i, j), {sum(i, j), one, weight(j)});
            }
        }
        if (opened > 0) out_.close();
        for (std::int64_t i = 0; i < s_.rows; ++i) {
            for (std::int64_t j = 0; j < vectors_; ++j)
                out_.store(sum(i, j), bytes_, at.c.at(4 * i * s_.n + j * bytes_));
        }
    }

    const ProductSchedule& s_;
    NestWriter out_;
    int bytes_;
    std::int64_t vectors_, taskRows_, taskColumns_;
    AffineAddress a_, b_, c_;
    std::int64_t bRow_ = 0, bTile_ = 0;
};

}  // namespace

bool ProductSchedule::divides() const {
    return m % (rowTasks * rows) == 0 && n % (columnTasks * columns) == 0 && k % depth == 0 && depth % unroll == 0;
}

std::int64_t ProductSchedule::vectors(const Machine& machine) const {
    const std::int64_t lanes = registerBytes(machine, instructionSet) / 4;
    return (columns + lanes - 1) / lanes;
}

bool ProductSchedule::fitsRegisters(const Machine& machine) const {
    const std::int64_t across = vectors(machine);
    return rows * across + across + 2 <= namedRegisters(instructionSet);
}

// Intel's and Arm's manuals: XMM and YMM registers 0 to 15, ZMM 0 to 31; V and Z registers 0 to 31.
int namedRegisters(std::string_view set) {
    return set == "scalar" || set == "avx2" ? 16 : 32;
}

LoopNest nestOf(const ProductSchedule& schedule, const Machine& machine) {
    assert(schedule.divides() && schedule.fitsRegisters(machine));
    return Writer(schedule, machine).write();
}

}  // namespace orrery::pipeline
