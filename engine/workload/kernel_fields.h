#pragma once

// The words by which tables and import descriptions speak of a kernel's fields: `m`, `dtype`, `kv_heads`. Columns of
// our own tables have these names.

#include "base/diagnostic.h"
#include "workload/kernel.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A kernel that is being put together from fields, in any order.
struct KernelDraft {
    Kernel kernel;
    bool kindGiven = false, weightsGiven = false, kvGiven = false;
    double batch = 1, valueDim = 0, pad = 0;
    double tokens = 0, experts = 0, expertsPerToken = 1, expertRanks = 1;  ///< before they are routed
    double outHeight = 0, outWidth = 0;  ///< 0: from the image, the kernel, padding, stride and dilation
};

struct KernelField {
    std::string_view name;  ///< `kv_heads`
    std::string_view meaning;
    /// One of the two is set: a number within low … high (whole if `whole`), or a word.
    void (*setNumber)(KernelDraft&, double) = nullptr;
    bool (*setWord)(KernelDraft&, std::string_view) = nullptr;  ///< false: not a word of this field
    double low = 1, high = 1e11;
    bool whole = true;
    std::string_view words = {};  ///< which words there are, for messages
};
std::span<const KernelField> kernelFields();
const KernelField* findKernelField(std::string_view name);

/// Sets what follows from other fields, checks what the kind needs, and counts its work. Returns what is missing or
/// wrong (static storage), or null if the kernel is sound.
const char* finishKernel(KernelDraft& draft);

/// A word kept for ever, so that a Kernel may point at it. Equal words share storage. At most 4096 different words of
/// at most 64 letters; others become `Other`.
std::string_view keptWord(std::string_view word);

}  // namespace orrery
