// The quantiles that tests/engine/tst_evaluation_stated.cpp prints. Classes of predicted time are under 10 us, to 100
// us, to 1 ms, and above. The first class holds differences in seconds, the others ratios; the last number of each is
// its rows, 0 where a neighbour stands in.

#include "methods/stated_errors.h"

namespace orrery {

namespace {

constexpr std::string_view derivedFrom =
    "5 to 95 % of measured kernels given what is predicted, on A100 SXM and L40S (bf16 products and attention of "
    "TensorRT-LLM, aiconfigurator 2026-08-21) and A100-40, V100 and T4 (fp32 element-wise, NeuSight 6945927d)";

constexpr StatedErrors table[] = {
    {"roofline",
     {{
         // matrix products
         {{{-1.4e-06, 4.12e-06, 1.14e-05, 14060},
           {0.479, 1.44, 2.46, 15640},
           {1.13, 1.41, 2.18, 11090},
           {1.15, 1.49, 2.2, 4150}}},
         // prefill attention
         {{{7.95e-06, 1.49e-05, 4.57e-05, 1894},
           {1.09, 3.26, 6.52, 1551},
           {2.38, 3.19, 4.59, 1727},
           {2.11, 2.53, 4.39, 1599}}},
         // decode attention
         {{{3.23e-06, 1.17e-05, 6.94e-05, 2830},
           {0.358, 1.29, 18.1, 1631},
           {0.877, 1.31, 5.67, 1416},
           {0.967, 1.23, 1.72, 525}}},
         // element-wise
         {{{-1.4e-06, 4.12e-06, 1.14e-05, 0},
           {1.28, 1.63, 3.08, 1872},
           {1.11, 1.28, 2.03, 4497},
           {1.31, 1.34, 1.7, 384}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.997, 35700}, {"H100 SXM", 0.959, 3961}, {"H100 SXM", 0.955, 5098}, {"L4", 0.992, 831}}}},
    {"hierarchical-roofline",
     {{
         // matrix products
         {{{-3.35e-06, 1.01e-06, 6.98e-06, 11773},
           {0.418, 1.07, 2.09, 14760},
           {0.381, 0.965, 1.79, 11107},
           {0.393, 0.839, 1.29, 7300}}},
         // prefill attention
         {{{5.12e-06, 1.05e-05, 3.46e-05, 1604},
           {0.994, 2.75, 5.75, 1571},
           {1.16, 2.27, 4.44, 1667},
           {1.13, 1.75, 3.18, 1929}}},
         // decode attention
         {{{2.96e-06, 8.39e-06, 6.56e-05, 2513},
           {0.353, 1.3, 18, 1898},
           {0.888, 1.3, 5.6, 1466},
           {0.964, 1.23, 1.72, 525}}},
         // element-wise
         {{{-3.35e-06, 1.01e-06, 6.98e-06, 0},
           {1.24, 1.56, 2.85, 1792},
           {1.11, 1.26, 2.01, 4576},
           {1.31, 1.34, 1.82, 385}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.986, 35700}, {"H100 SXM", 0.955, 3961}, {"H100 SXM", 0.962, 5098}, {"L4", 0.995, 831}}}},
    {"llm-inference",
     {{
         // matrix products
         {{{-3.88e-06, 6.32e-07, 4.97e-06, 10949},
           {0.351, 0.967, 1.62, 16556},
           {0.712, 1.03, 1.51, 12082},
           {0.763, 1, 1.49, 5353}}},
         // prefill attention
         {{{4.32e-06, 9.93e-06, 2.52e-05, 1511},
           {0.804, 2.18, 4.57, 1499},
           {1.11, 1.57, 3.11, 1539},
           {0.855, 1.05, 2.75, 2222}}},
         // decode attention
         {{{2.1e-06, 7.97e-06, 5.11e-05, 2434},
           {0.351, 1.18, 18.4, 1637},
           {0.282, 1.02, 4.43, 1743},
           {0.654, 0.958, 1.33, 588}}},
         // element-wise
         {{{-3.88e-06, 6.32e-07, 4.97e-06, 0},
           {1.03, 1.17, 2.37, 1280},
           {0.872, 1.01, 1.58, 4844},
           {1.03, 1.06, 1.61, 606}}},
     }},
     derivedFrom,
     {{{"H100 SXM", 0.998, 35700}, {"H100 SXM", 0.798, 3961}, {"H100 SXM", 0.968, 5098}, {"L4", 0.863, 831}}}},
};

}  // namespace

std::span<const StatedErrors> statedErrorsTable() {
    return table;
}

}  // namespace orrery
