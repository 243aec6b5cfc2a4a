// What the cards of the methods over kernels say. Findings are those of `orrery-cli evaluate` and of
// tests/methods/tst_model_end_to_end.cpp.

#include "methods/model/model_methods.h"

#include <algorithm>
#include <vector>

namespace orrery {

namespace {

struct Card {
    std::string_view id, title;
    Methodology methodology;
    std::string_view summary;
    std::vector<Evidence> evidence;
    std::string_view failureMode;
    std::vector<std::string_view> lineage;
    std::string_view expectedCost;
    bool live;
};

const std::vector<Card>& cards() {
    static const std::vector<Card> all{
        {"tile-wave",
         "Tiles and waves",
         Methodology::Analytical,
         "Kernels as libraries run them: tiles, waves of blocks over the multiprocessors, traffic through the caches, "
         "with few fitted numbers. Says why a shape is slow.",
         {{"matrix products", "GPU",
           "MAPE 7.1 / 9.8 / 11.9 % on the bf16 products of H100 / A100 / L40S that its calibrations were not fitted "
           "to "
           "(aiconfigurator 2026-08-21)"},
          {"whole transformers", "GPU",
           "MAPE 6.8 %, 41 of 41 inside the interval: fp32 inference, compiled inference and training steps of BERT, "
           "GPT "
           "and OPT on one A100, V100, P100 or P4, none used to fit (NeuSight 6945927d)"}},
         "Kernels whose library picks another tile than the one assumed; power limits that the design does not state.",
         {"Lee, Phanishayee, Mahajan: NeuSight, ASPLOS 2025 (tiles and waves)",
          "Osama et al.: Stream-K, PPoPP 2023 (split work)"},
         "microseconds per distinct kernel",
         true},
        {"tile-hybrid",
         "Tiles and waves, corrected",
         Methodology::Hybrid,
         "The physics of tiles and waves times a learned correction over what it computes. The most exact where a "
         "calibration covers device and shape; says where it does not.",
         {{"matrix products", "GPU",
           "MAPE 3.1 / 4.2 / 5.6 % on the bf16 products of H100 / A100 / L40S that its calibrations were not fitted to "
           "(aiconfigurator 2026-08-21)"},
          {"whole transformers", "GPU",
           "MAPE 6.8 %, 36 of 41 inside the interval: fp32 inference, compiled inference and training steps of BERT, "
           "GPT "
           "and OPT on one A100, V100, P100 or P4, none used to fit (NeuSight 6945927d)"}},
         "Shapes and devices outside the calibration fall back on the physics; the interval widens there.",
         {"Lee, Phanishayee, Mahajan: NeuSight, ASPLOS 2025"},
         "microseconds per distinct kernel",
         true},
        {"wave-scaling",
         "Wave scaling",
         Methodology::Hybrid,
         "What was measured on one GPU, scaled to another by waves, clocks and bandwidths. For moving between devices "
         "of "
         "one maker.",
         {{"vector operators", "GPU",
           "13 % mean over the 42 pairs of NeuSight's seven NVIDIA GPUs, 3 to 8 % between like ones"},
          {"matrix products", "GPU",
           "fp32: linear layers 32 % mean over the pairs (7 to 19 % between V100, A100 and L4), batched products 21 %"},
          {"whole models", "GPU", "reported by its authors: 11.8 % on training steps between 6 GPUs (Habitat, 2021)"}},
         "Needs measurements of a GPU that runs the same kernels; breaks between generations whose libraries differ.",
         {"Yu et al.: Habitat, USENIX ATC 2021"},
         "microseconds per distinct kernel",
         true},
        {"forest",
         "Random forest",
         Methodology::Learned,
         "Trees over plain features of kernel and device, latency directly, averaged. For comparison with the physical "
         "methods in and out of their domain.",
         {{"matrix products", "GPU",
           "mean error 5.2 / 8.2 / 9.5 % on the held-out 80 % of bf16 products on H100 / A100 / L40S "
           "(aiconfigurator)"}},
         "Does not extrapolate: a size or device beyond its rows gets the nearest one's time.",
         {"Breiman: Random Forests, Machine Learning 45, 2001"},
         "microseconds per distinct kernel",
         true},
        {"booster",
         "Boosted trees",
         Methodology::Learned,
         "Boosted trees over plain features of kernel and device, latency directly. For comparison with the physical "
         "methods in and out of their domain.",
         {{"matrix products", "GPU",
           "mean error 4.4 / 7.1 / 8.8 % on the held-out 80 % of bf16 products on H100 / A100 / L40S, 162 / 39 / 34 % "
           "on "
           "each when fitted to the other two (aiconfigurator)"}},
         "Does not extrapolate: a size or device beyond its rows gets the nearest one's time.",
         {"Chen, Guestrin: XGBoost, KDD 2016"},
         "microseconds per distinct kernel",
         true},
        {"interval-analysis",
         "Interval analysis",
         Methodology::Analytical,
         "The instructions of a representative warp between stalls: issue, pipes, memory latency and queues, as a "
         "stack of "
         "cycles that adds up.",
         {{"matrix products", "GPU",
           "bf16 on A100 (aiconfigurator, every 20th row): 20.3 % as it stands, 11.5 % after fitting two numbers to a "
           "fifth "
           "of them; fp32 on seven GPUs (NeuSight): 8 to 35 %, fitted 7 to 19 %. AMALI's authors report 17.8 % on "
           "A100"},
          {"vector operators", "GPU",
           "fp32 on seven GPUs (NeuSight, every 10th row): 9 to 27 % as it stands, 3 to 14 % after fitting two numbers "
           "to "
           "a fifth of them"},
          {"whole transformers", "GPU",
           "MAPE 16.4 %, 34 of 41 inside the interval: fp32 transformers on one A100, V100, P100 or P4 (NeuSight "
           "6945927d)"}},
         "Kernels that are not like its templates; operands that an earlier kernel left in the L2 cache; clocks that "
         "drop under load.",
         {"Lee et al.: GCoM, ISCA 2022", "Wang et al.: MDM, MICRO 2020", "Cao et al.: AMALI, ISCA 2025"},
         "some 5 µs per distinct kernel",
         true},
        {"mapping-search",
         "Mapping search",
         Methodology::Analytical,
         "Searches tilings over last-level cache and multiprocessors for the fastest, with the cycles of the tensor "
         "units as a systolic array's.",
         {{"matrix products", "GPU",
           "A100, the 20 of LLMCompass's set: 7.7 % with the constant that its authors state, 3.8 % on held-out rows "
           "with "
           "one fitted to the other half; they report 10.9 % over all operators. Without the framework's launch, on "
           "3,520 products of 1 to 64 rows that TensorRT-LLM timed on the device: 25 %, 96 % inside the interval"},
          {"vector operators", "GPU",
           "A100, LLMCompass's set with its authors' constants: softmax 6.3 %, GELU 7.1 %, layer norm 13.8 %"},
          {"whole transformers", "GPU",
           "MAPE 13.8 %, 34 of 41 inside the interval: fp32 transformers on one A100, V100, P100 or P4 (NeuSight "
           "6945927d)"}},
         "Small kernels and shapes for which the library has no good kernel: the best mapping tends to be too fast.",
         {"Zhang et al.: LLMCompass, ISCA 2024"},
         "up to a millisecond per distinct kernel",
         true},
    };
    return all;
}

}  // namespace

MethodCard kernelMethodCard(const KernelMethod& method) {
    MethodCard card{
        .id = method.id,
        .title = method.id,
        .methodology = Methodology::Analytical,
        .level = MethodLevel::Kernel,
        .summary = "Prices the kernels of a model on a GPU one by one and composes them.",
        .platforms = {"GPU"},
        .evidence = {},
        .needs = {"A GPU with cores, clock and memory bandwidth", "Shapes of all tensors",
                  "Calibrations, of the device or of others; without them intervals are wide"},
        .failureMode = "Not known.",
        .lineage = {},
        .expectedCost = "microseconds per distinct kernel",
        .version = method.version,
        .live = true,
    };
    const auto found = std::find_if(cards().begin(), cards().end(), [&](const Card& c) { return c.id == method.id; });
    if (found == cards().end()) return card;
    card.title = found->title;
    card.methodology = found->methodology;
    card.summary = found->summary;
    card.evidence = found->evidence;
    card.failureMode = found->failureMode;
    card.lineage = found->lineage;
    card.expectedCost = found->expectedCost;
    card.live = found->live;
    return card;
}

}  // namespace orrery
