#pragma once

// What a whole is missed by beyond its kernels: the software around them (copies, casts, gaps, clocks that fall while
// it lasts) and the host that issues them. Kernels by themselves do not show it, so that the composed interval of
// kernels alone holds too few of the passes that were measured whole.

#include "methods/model/compose.h"

namespace orrery {

/// 90 % of ln(predicted ÷ measured) below and ln(measured ÷ predicted) above, of whole passes beyond the intervals of
/// their kernels: where the prices were learned from the software that runs (ForeignStack::own()), and where not. The
/// first is small: NeuSight's passes lie within what their kernels say. The second is from timm's passes on RTX 3090,
/// 4090 and 5090 (huggingface/pytorch-image-models @ aa4b5850), PyTorch's on V100 and BERT base on T4
/// (DeepLearningExamples @ 729963dd). tst_whole_passes judges it on others.
struct WholeError {
    double below = 0, above = 0;
};
inline constexpr WholeError wholeOwnSoftware{0.05, 0.05}, wholeOtherSoftware{0.4, 0.55};

/// For launches of which `foreign` (0 to 1) of the time is of kernels not learned from their software (it counts in
/// proportion) and `longest` (0 to 1) is Σt² ÷ (Σt)² over different kernels: 1 of one kernel, which is no whole and has
/// none.
WholeError wholeError(double foreign, double longest);

/// Widens c.interval: by wholeError() on both sides, and where a host launches eagerly by how far its calls may take
/// less or more than assumed. Not where every price holds its own launch: no software stands between such kernels. No
/// side passes the least time of the kernels. Squares add up.
void widenWhole(const ModelOptions& options, Composition& c);

}  // namespace orrery
