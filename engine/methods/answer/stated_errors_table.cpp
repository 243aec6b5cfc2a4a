// The quantiles that tests/evaluation/tst_evaluation_stated.cpp prints. Classes of predicted time are under 10 us, to 100
// us, to 1 ms, and above. The first class holds differences in seconds, the others ratios; the last number of each is
// its rows, 0 where a neighbour stands in.

#include "methods/answer/stated_errors.h"

namespace orrery {

namespace {

constexpr std::string_view derivedFrom =
    "5 to 95 % of measured kernels given what is predicted, on A100 SXM and L40S (bf16 products and attention of "
    "TensorRT-LLM, aiconfigurator 2026-08-21) and A100-40, V100 and T4 (fp32 element-wise; convolutions on the last "
    "two; NeuSight 6945927d), without kernels that main memory would bound but whose operands fit in the last cache";

constexpr StatedErrors table[] = {
    {"roofline",
     {{
         // matrix products
         {{{6.23e-06, 9.64e-06, 1.51e-05, 334},
           {1.33, 1.77, 2.68, 4158},
           {1.15, 1.41, 2.18, 10744},
           {1.15, 1.49, 2.2, 4150}}},
         // prefill attention
         {{{2.89e-05, 5.3e-05, 8.24e-05, 66},
           {3.42, 4.3, 7.29, 721},
           {2.38, 3.19, 4.59, 1727},
           {2.11, 2.53, 4.39, 1599}}},
         // decode attention
         {{{6.23e-06, 9.64e-06, 1.51e-05, 0},
           {1, 1.4, 2.01, 156},
           {0.866, 1.26, 1.63, 1199},
           {0.965, 1.23, 1.56, 508}}},
         // element-wise
         {{{6.23e-06, 9.64e-06, 1.51e-05, 0},
           {1.28, 1.63, 2.73, 1796},
           {1.11, 1.28, 2.03, 4497},
           {1.31, 1.34, 1.7, 384}}},
         // convolutions
         {{{6.23e-06, 9.64e-06, 1.51e-05, 0},
           {2.74, 7.24, 23.6, 980},
           {1.02, 2.24, 6.52, 4377},
           {0.68, 1.32, 2.96, 4470}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.999, 18741},
       {"H100 SXM", 0.994, 2380},
       {"H100 SXM", 0.824, 1651},
       {"L4", 0.992, 831},
       {"A100 80 GB PCIe", 0.920, 4786}}}},
    {"hierarchical-roofline",
     {{
         // matrix products
         {{{3.1e-06, 5.86e-06, 1.06e-05, 255},
           {1.26, 1.65, 2.48, 4163},
           {1.14, 1.4, 2.15, 10814},
           {1.15, 1.49, 2.2, 4154}}},
         // prefill attention
         {{{2.58e-05, 3.31e-05, 4.98e-05, 41},
           {3.28, 4.06, 6.19, 705},
           {2.37, 3.16, 4.55, 1755},
           {2.11, 2.53, 4.38, 1599}}},
         // decode attention
         {{{3.1e-06, 5.86e-06, 1.06e-05, 0},
           {0.929, 1.33, 1.87, 132},
           {0.865, 1.25, 1.62, 1223},
           {0.963, 1.23, 1.55, 508}}},
         // element-wise
         {{{3.1e-06, 5.86e-06, 1.06e-05, 0},
           {1.24, 1.56, 2.55, 1716},
           {1.11, 1.26, 2.01, 4576},
           {1.31, 1.34, 1.82, 385}}},
         // convolutions
         {{{3.1e-06, 5.86e-06, 1.06e-05, 0},
           {2.7, 6.88, 22.9, 987},
           {1.01, 2.23, 6.5, 4385},
           {0.679, 1.31, 2.95, 4481}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.999, 18741},
       {"H100 SXM", 0.993, 2380},
       {"H100 SXM", 0.860, 1651},
       {"L4", 0.995, 831},
       {"A100 80 GB PCIe", 0.918, 4786}}}},
    {"llm-inference",
     {{
         // matrix products
         {{{2.1e-06, 3.19e-06, 6.47e-06, 147},
           {0.965, 1.21, 1.73, 3290},
           {0.794, 1.04, 1.52, 10596},
           {0.763, 1, 1.49, 5353}}},
         // prefill attention
         {{{2.1e-06, 3.19e-06, 6.47e-06, 0},
           {1.66, 2.55, 4.95, 464},
           {1.11, 1.6, 3.11, 1418},
           {0.855, 1.05, 2.75, 2222}}},
         // decode attention
         {{{2.1e-06, 3.19e-06, 6.47e-06, 0},
           {0.742, 1.07, 1.49, 125},
           {0.683, 0.998, 1.3, 1176},
           {0.643, 0.956, 1.06, 562}}},
         // element-wise
         {{{2.1e-06, 3.19e-06, 6.47e-06, 0},
           {1.03, 1.16, 2.12, 1204},
           {0.872, 1.01, 1.58, 4844},
           {1.03, 1.06, 1.61, 606}}},
         // convolutions
         {{{2.1e-06, 3.19e-06, 6.47e-06, 0},
           {2.39, 6.01, 19.3, 698},
           {0.78, 1.75, 5.23, 3620},
           {0.473, 0.947, 2.24, 5553}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.798, 18741},
       {"H100 SXM", 0.727, 2380},
       {"H100 SXM", 0.846, 1651},
       {"L4", 0.863, 831},
       {"A100 80 GB PCIe", 0.918, 4786}}}},
};

}  // namespace

std::span<const StatedErrors> statedErrorsTable() {
    return table;
}

}  // namespace orrery
