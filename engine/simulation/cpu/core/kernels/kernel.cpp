#include "simulation/cpu/core/kernels/kernel.h"

#include "base/text/words.h"
#include "simulation/cpu/core/kernels/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace orrery::pipeline {

const std::vector<KernelForm>& kernelForms() {
    static const std::vector<KernelForm> forms{
        {"gemm", "C += A·B, blocked and packed", {{"m", 256}, {"n", 256}, {"k", 256}}},
        {"conv",
         "direct convolution, channels last",
         {{"c", 64}, {"k", 64}, {"h", 16}, {"w", 16}, {"r", 3}, {"stride", 1}}},
        {"depthwise",
         "convolution of each channel by itself",
         {{"c", 128}, {"h", 16}, {"w", 16}, {"r", 3}, {"stride", 1}}},
        {"matvec",
         "A·Bᵀ of one to three rows, weights of so many bytes",
         {{"m", 1}, {"n", 1024}, {"k", 1024}, {"bytes", 4}}},
        {"softmax", "of each row", {{"rows", 64}, {"columns", 512}}},
        {"norm", "layer normalisation of each row", {{"rows", 64}, {"columns", 768}}},
        {"add", "sum of two arrays", {{"n", 65536}}},
        {"relu", "of an array", {{"n", 65536}}},
        {"silu", "of an array", {{"n", 65536}}},
        {"attention", "two products and a softmax per head", {{"heads", 2}, {"q", 64}, {"kv", 64}, {"d", 64}}}};
    return forms;
}

const std::vector<std::string_view>& instructionSets() {
    static const std::vector<std::string_view> sets{"scalar", "avx2", "avx512", "amx", "neon", "neon-fp16", "sve"};
    return sets;
}

Expected<KernelSpec> readKernel(std::string_view text) {
    KernelSpec spec;
    std::istringstream words{std::string(text)};
    std::string word;
    const KernelForm* form = nullptr;
    const auto listed = [](const auto& all, auto&& name) {
        std::string line;
        for (const auto& each : all) line += (line.empty() ? "" : ", ") + std::string(name(each));
        return line;
    };
    while (words >> word) {
        if (!form) {
            for (const auto& each : kernelForms()) {
                if (each.name == word) form = &each;
            }
            if (!form) {
                return fail("kernel.unknown", fmt::format("there is no kernel `{}`", word),
                            listed(kernelForms(), [](const auto& each) { return each.name; }));
            }
            spec.kernel = word;
            for (const auto& [name, usual] : form->sizes) spec.sizes.emplace(name, usual);
            continue;
        }
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            const auto& sets = instructionSets();
            if (std::find(sets.begin(), sets.end(), word) == sets.end()) {
                return fail("kernel.word", fmt::format("`{}` is neither a size nor an instruction set", word),
                            listed(sets, [](const auto& each) { return each; }));
            }
            spec.instructionSet = word;
            continue;
        }
        const auto size = spec.sizes.find(word.substr(0, equals));
        if (size == spec.sizes.end()) {
            return fail("kernel.size", fmt::format("{} has no size `{}`", spec.kernel, word.substr(0, equals)),
                        listed(form->sizes, [](const auto& each) { return each.first; }));
        }
        const auto value = wholeIn(std::string_view(word).substr(equals + 1));
        if (!value || *value < 1 || *value > 1 << 20) {
            return fail("kernel.size", fmt::format("`{}` of {} is wrong", size->first, spec.kernel),
                        "a whole number from 1 to 1048576");
        }
        size->second = *value;
    }
    if (!form) {
        return fail("kernel.unknown", "no kernel is named",
                    listed(kernelForms(), [](const auto& each) { return each.name; }));
    }
    if (spec.kernel == "matvec") {
        const auto bytes = spec.size("bytes");
        if (spec.size("m") > fewRows)
            return fail("kernel.size", fmt::format("`m` of matvec is {}", spec.size("m")), "1, 2 or 3",
                        "`gemm` has more rows");
        if (bytes != 1 && bytes != 2 && bytes != 4)
            return fail("kernel.size", fmt::format("`bytes` of matvec is {}", bytes), "1, 2 or 4");
    }
    const bool slides = spec.kernel == "conv" || spec.kernel == "depthwise";
    if (slides && (spec.size("r") > std::min(spec.size("h"), spec.size("w")) || spec.size("r") > 31))
        return fail("kernel.size", "the window of the convolution does not fit its input", "r ≤ 31, h and w");
    if (flopsOf(spec) > 1e15) return fail("kernel.size", "this kernel is too long", "up to 10¹⁵ operations");
    return spec;
}

std::string toText(const KernelSpec& spec) {
    std::string text = spec.kernel;
    for (const auto& form : kernelForms()) {
        if (form.name != spec.kernel) continue;
        for (const auto& [name, usual] : form.sizes) text += fmt::format(" {}={}", name, spec.size(name));
    }
    return text + " " + spec.instructionSet;
}

int registerBytes(const Machine& machine, std::string_view set) {
    if (set == "avx2") return 32;
    if (set == "avx512" || set == "amx") return 64;
    if (set == "neon" || set == fp16Set) return 16;
    // Of SVE as wide as the units together, at least NEON's: 256 bits on Neoverse V1.
    if (set == "sve") return std::max(32, machine.vectorBytes);
    return 4;
}

int elementBytes(std::string_view set) {
    return set == fp16Set ? 2 : 4;
}

bool hasHalves(std::string_view kernel) {
    return kernel == "gemm" || kernel == "conv" || kernel == "depthwise" || kernel == "add" || kernel == "relu";
}

double flopsOf(const KernelSpec& spec) {
    const auto at = [&](std::string_view name) { return static_cast<double>(spec.size(name)); };
    if (spec.kernel == "gemm") return 2 * at("m") * at("n") * at("k");
    if (spec.kernel == "matvec") return 2 * at("m") * at("n") * at("k");
    if (spec.kernel == "conv" || spec.kernel == "depthwise") {
        const double oh = (at("h") - at("r")) / at("stride") + 1, ow = (at("w") - at("r")) / at("stride") + 1;
        return 2 * at("c") * (spec.kernel == "conv" ? at("k") : 1) * at("r") * at("r") * oh * ow;
    }
    if (spec.kernel == "softmax") return 20 * at("rows") * at("columns");
    if (spec.kernel == "norm") return 8 * at("rows") * at("columns");
    if (spec.kernel == "attention") return at("heads") * at("q") * at("kv") * (4 * at("d") + 20);
    return (spec.kernel == "silu" ? 20 : 1) * at("n");
}

Expected<LoopNest> nestOf(const KernelSpec& spec, const Machine& machine) {
    if (!machine.has(spec.instructionSet)) {
        std::string has = "scalar";
        for (const auto& each : machine.instructionSets) has += ", " + each;
        return fail("kernel.instruction-set", fmt::format("{} has no {}", machine.title, spec.instructionSet), has);
    }
    if (spec.instructionSet == fp16Set && !hasHalves(spec.kernel))
        return fail("kernel.instruction-set", fmt::format("`{}` is not written in {}", spec.kernel, fp16Set),
                    "gemm, conv, depthwise, add or relu", "take neon");
    NestWriter out;
    const auto target = parts::targetOf(machine, spec.instructionSet);
    if (spec.kernel == "gemm") {
        const auto m = spec.size("m"), n = spec.size("n"), k = spec.size("k");
        auto its = target;
        if (its.matrix) its.element = 2, its.lanes = its.bytes / 2;  // operands of 16 bits, results of 32
        const std::int64_t e = its.element, r = its.matrix ? 4 : e;
        const auto a = out.array(static_cast<std::uint64_t>(m * k * e), ArrayUse::Input),
                   b = out.array(static_cast<std::uint64_t>(n * k * e)),
                   c = out.array(static_cast<std::uint64_t>(m * (n + 16) * r));
        parts::product(out, its, m, n, k, {a, k * e, e}, {b, n * e, e}, {c, n * r, r});
    } else if (spec.kernel == "conv") {
        parts::convolution(out, target, spec);
    } else if (spec.kernel == "depthwise") {
        parts::depthwise(out, target, spec);
    } else if (spec.kernel == "matvec") {
        const auto m = spec.size("m"), n = spec.size("n"), k = spec.size("k"), bytes = spec.size("bytes");
        const auto a = out.array(static_cast<std::uint64_t>(m * k * 4), ArrayUse::Input),
                   b = out.array(static_cast<std::uint64_t>(n * k * bytes)),
                   c = out.array(static_cast<std::uint64_t>(m * n * 4));
        parts::dotProducts(out, target, m, n, k, {a, k * 4, 4}, {b, bytes, k * bytes}, {c, n * 4, 4},
                           static_cast<int>(bytes));
    } else if (spec.kernel == "softmax") {
        const auto rows = spec.size("rows"), columns = spec.size("columns");
        const auto from = out.array(static_cast<std::uint64_t>(rows * columns * 4), ArrayUse::Input);
        const auto to = out.array(static_cast<std::uint64_t>(rows * columns * 4));
        parts::softmax(out, target, rows, columns, from, to, columns * 4);
    } else if (spec.kernel == "norm") {
        parts::normalisation(out, target, spec.size("rows"), spec.size("columns"));
    } else if (spec.kernel == "attention") {
        parts::attention(out, target, spec);
    } else {
        parts::elementwise(out, target, spec.kernel, spec.size("n"));
    }
    return out.finish();
}

namespace parts {

Target targetOf(const Machine& machine, const std::string& set) {
    Target target{machine, set};
    target.bytes = registerBytes(machine, set);
    target.element = elementBytes(set);
    target.lanes = target.bytes / target.element;
    target.matrix = set == "amx";
    // Accumulators, weights and a broadcast fill the registers of the set: 16 of AVX2, 32 of the others.
    target.rows = set == "scalar" ? 3 : set == "avx2" ? 6 : set == "avx512" || set == "amx" ? 14 : 8;
    target.vectors = set == "neon" || set == fp16Set || set == "sve" ? 3 : set == "scalar" ? 4 : 2;
    return target;
}

}  // namespace parts

}  // namespace orrery::pipeline
