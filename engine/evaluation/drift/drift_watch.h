#pragma once

// Has the software moved? Asked after every new row, with a promise that holds however often one looks.

#include <cstddef>

namespace orrery {

/// A row surprises that lies outside of what was believed: beyond `stillWithin` either way, and outside of the 90 %
/// interval where there is one. Of software that stands still, noise and intervals let at most `stillShare` of the rows
/// do so: of repeated measurements of one kernel 1 to 18 % differ by more than a tenth (aiconfigurator, NCCL and expert
/// kernels measured twice).
inline constexpr double stillWithin = 0.10, stillShare = 0.20;

/// A test by betting (Ville 1939; Shafer, "Testing by betting", J. R. Stat. Soc. A 184, 2021): the evidence is the mean
/// likelihood ratio of all shares above `stillShare`, evenly weighed, against `stillShare`. Of software that stands
/// still it exceeds 1 ÷ α at any time with a probability of at most α.
class DriftWatch {
public:
    /// Seconds; low and high of the 90 % interval, both 0 where there is none. O(1).
    void add(double believed, double measured, double low = 0, double high = 0);
    std::size_t rows() const { return rows_; }
    std::size_t surprises() const { return surprises_; }
    double evidence() const;  ///< 1 after no row
    /// Moved, at a share of false alarms of at most `alpha` over all rows ever added.
    bool moved(double alpha = 0.05) const { return evidence() >= 1 / alpha; }

private:
    std::size_t rows_ = 0, surprises_ = 0;
};

}  // namespace orrery
