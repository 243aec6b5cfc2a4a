#pragma once

// Times of arrival, one after the other.

#include "base/random.h"
#include "serving/traffic/traffic.h"

namespace orrery {

/// Gaps by ArrivalKind; every kind but Trace and ClosedLoop (which have no times of their own: 0).
class ArrivalTimes {
public:
    ArrivalTimes(const ArrivalSpec& spec, RandomStream random);
    double next();  ///< seconds, never falling

private:
    double gap();
    double bursts();
    double diurnal();

    ArrivalSpec spec_;
    RandomStream random_;
    double now_ = 0;
    bool bursting_ = false;
    double switchAt_ = 0;  ///< of bursts: when the phase changes
};

/// Exponential with that mean; a mean of 0 gives 0.
double exponential(RandomStream& random, double mean);
/// Gamma with mean 1 (Marsaglia and Tsang, ACM TOMS 26(3), 2000).
double unitGamma(RandomStream& random, double shape);
/// Number of failures before a success, with that mean; at most 10,000.
std::int32_t geometric(RandomStream& random, double mean);

}  // namespace orrery
