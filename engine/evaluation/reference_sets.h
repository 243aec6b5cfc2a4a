#pragma once

// Readers of published measurements. Each row becomes one operator, so that methods price it as they price a model's.

#include "evaluation/reference.h"

#include <string>
#include <string_view>

namespace orrery {

/// NVIDIA aiconfigurator (Apache-2.0): kernels of TensorRT-LLM. Weights are warm in the L2 cache, so that rows smaller
/// than it may run faster than main memory allows. `folder` holds `<system>__<stack>__<table>.csv.gz`, `system` is
/// `a100_sxm`, `h100_sxm` or `l40s`; `device` is recorded in the set.
Expected<ReferenceSet> readAiconfiguratorGemm(const std::string& folder, std::string_view system,
                                              std::string_view device);
/// bf16 attention without window, head dimension 128, at most 8 query heads per KV head: causal prefill (`generation`
/// false) or one query against a cache of at least 64 tokens. Of stacks that do not say the cache's type, generation
/// rows with grouped heads are left out: on A100 they beat main memory by up to 1.6 times with caches far larger than
/// the L2, so it was not bf16.
Expected<ReferenceSet> readAiconfiguratorAttention(const std::string& folder, std::string_view system,
                                                   std::string_view device, bool generation);

/// NeuSight (MIT): fp32 vector operators of PyTorch 2.1, rows whose device is `deviceName`. Times include the gap
/// between launches (about 0.03 ms on small operators).
Expected<ReferenceSet> readNeusightVector(const std::string& file, std::string_view deviceName,
                                          std::string_view device);
/// NeuSight's fp32 linear layers, y[M,K] = x[M,N]·W[N,K], of one device.
Expected<ReferenceSet> readNeusightLinear(const std::string& file, std::string_view deviceName,
                                          std::string_view device);

/// NeuSight's fp32 convolutions of square images and kernels, of one device.
Expected<ReferenceSet> readNeusightConv(const std::string& file, std::string_view deviceName, std::string_view device);

/// LLMCompass (BSD-3): fp16 matrix products of PyTorch on A100 SXM; host timing, so 20 to 50 us of launch are inside.
Expected<ReferenceSet> readLlmCompassMatmul(const std::string& file, std::string_view device);

}  // namespace orrery
