#pragma once

// Rows that are whole models, as `run` answers them.

#include "evaluation/row_pricer.h"

namespace orrery {

struct Method;

/// What may be asked about a device: all calibrations, or those that learned nothing from it.
CalibrationSet askedAbout(const std::string& device, const EvaluateOptions& options);

/// Prices whole models by `method` (null: by none). All of it must outlive what is made.
ModelPricing modelPricing(const Method* method, const RowPricer& pricer, const EvaluateOptions& options);

}  // namespace orrery
