#include "base/random.h"
#include "learning/training.h"
#include "methods/cpu/core_windows.h"
#include "simulation/cpu/core/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

using namespace pipeline;

namespace {

constexpr double mostOperations = 4e5;

bool among(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

// A kernel of this family and size, drawn, in an instruction set that the machine has.
KernelSpec drawKernel(const std::string& family, const Machine& machine, RandomStream& random) {
    const auto between = [&](double low, double high) {
        return static_cast<std::int64_t>(std::lround(low * std::pow(high / low, random.uniform())));
    };
    KernelSpec spec;
    spec.kernel = family;
    for (const auto& form : kernelForms())
        if (form.name == family)
            for (const auto& [name, usual] : form.sizes) spec.sizes.emplace(name, usual);
    const auto set = [&](std::string_view name, std::int64_t value) { spec.sizes.find(name)->second = value; };
    if (family == "gemm") {
        set("m", between(4, 400)), set("n", between(8, 600)), set("k", between(16, 700));
    } else if (family == "conv") {
        set("c", between(4, 128)), set("k", between(8, 128)), set("h", between(6, 40)), set("w", between(6, 40));
        set("r", random.uniform() < 0.4 ? 1 : 3);
        set("stride", random.uniform() < 0.2 ? 2 : 1);
    } else if (family == "softmax" || family == "norm") {
        set("rows", between(4, 400)), set("columns", between(32, 9000));
    } else if (family == "attention") {
        set("heads", between(1, 4)), set("q", between(16, 160)), set("kv", between(32, 400));
        set("d", random.uniform() < 0.5 ? 64 : 128);
    } else {
        set("n", between(2000, 600000));
    }
    std::vector<std::string> sets;
    for (const auto& each : machine.instructionSets)
        if (each != "amx" || family == "gemm") sets.push_back(each);
    sets.emplace_back("scalar");
    // Vectors mostly: scalar code is one of five.
    spec.instructionSet = random.uniform() < 0.2 ? "scalar" : sets[random.below(sets.size() - 1 + (sets.size() == 1))];
    return spec;
}

// The same core with other numbers: what a person changes in a drawing.
void shake(Machine& m, RandomStream& random) {
    const auto by = [&](double most) { return std::pow(most, 2 * random.uniform() - 1); };
    const auto whole = [&](int& value, double most, int low) {
        value = std::max(low, static_cast<int>(std::lround(value * by(most))));
    };
    const auto step = [&](int& value, int low) {
        value = std::max(low, value + static_cast<int>(random.below(3)) - 1);
    };
    step(m.fetchWidth, 2), step(m.issueWidth, 2);
    m.fetchWidth = std::max(m.fetchWidth, m.issueWidth);
    m.retireWidth = std::max(m.retireWidth, m.issueWidth);
    whole(m.frontDepth, 1.4, 4);
    whole(m.reorderBuffer, 1.8, 32), whole(m.scheduler, 1.6, 16), whole(m.loadQueue, 1.6, 12);
    whole(m.storeQueue, 1.6, 8), whole(m.integerRegisters, 1.5, 32), whole(m.vectorRegisters, 1.5, 32);
    for (CacheSpec& cache : m.caches) {
        const double turn = random.uniform();
        if (turn < 0.25) cache.bytes /= 2;
        if (turn > 0.75) cache.bytes *= 2;
        whole(cache.latency, 1.25, 2);
        whole(cache.misses, 1.5, 4);
    }
    m.memoryLatency *= by(1.6);
    m.memoryBandwidth *= by(2.0);
}

TrainingOptions treesOf(const WindowFitOptions& options) {
    TrainingOptions how;
    how.kind = "compact-trees";
    how.steps = 250, how.depth = 5, how.rate = 0.06, how.minimumLeaf = 2, how.ridge = 2, how.subsample = 0.7;
    how.loss = "huber";
    how.seed = options.seed;
    how.stop = options.stop;
    return how;
}

// Whether trees tell the windows of families of kernels that they have not seen better than no trees do.
Expected<bool> treesHelp(const TrainingData& data, const std::vector<std::size_t>& familyOf, std::size_t families,
                         const TrainingOptions& how) {
    double with = 0, without = 0;
    for (std::size_t family = 0; family < families; ++family) {
        TrainingData known;
        known.names = data.names;
        const std::size_t columns = data.columns();
        const auto rowOf = [&](std::size_t row) { return std::span(data.features).subspan(row * columns, columns); };
        for (std::size_t row = 0; row < familyOf.size(); ++row) {
            if (familyOf[row] == family) continue;
            const auto features = rowOf(row);
            known.features.insert(known.features.end(), features.begin(), features.end());
            known.target.push_back(data.target[row]);
            known.weight.push_back(data.weight[row]);
        }
        if (known.target.empty() || known.target.size() == data.target.size()) continue;
        const auto trained = train(known, nullptr, how);
        if (!trained) return Unexpected(trained.error());
        for (std::size_t row = 0; row < familyOf.size(); ++row) {
            if (familyOf[row] != family) continue;
            with += data.weight[row] * std::fabs(data.target[row] - (*trained)->predict(rowOf(row)));
            without += data.weight[row] * std::fabs(data.target[row]);
        }
    }
    return with < without;
}

struct Run {
    std::vector<double> features;  ///< row after row
    std::vector<double> real, together, operations;
    double cycles = 0;
    KernelWindows windows;
};

Run runBoth(const LoopNest& nest, const Machine& machine) {
    Run run;
    const auto ops = boundOps(machine, nest.ops);
    run.windows = windowsOf(nest, machine, ops);
    const auto& w = run.windows;
    std::vector<double> spent(w.classes.size() + 1, 0.0);
    Pipeline core(machine, ops);
    NestStream stream(nest);
    OpChunk chunk;
    std::vector<Passage> passages;
    std::uint64_t last = 0;
    while (stream.next(chunk)) {
        passages.clear();
        core.run(chunk, passages);
        for (std::size_t i = 0; i < chunk.size; ++i) {
            const int number = w.classOf[chunk.op[i]];
            spent[number < 0 ? w.classes.size() : static_cast<std::size_t>(number)] +=
                static_cast<double>(passages[i].retire - last);
            last = passages[i].retire;
        }
    }
    run.cycles = static_cast<double>(core.counters().cycles);
    std::vector<double> row;
    for (std::size_t c = 0; c < w.classes.size(); ++c) {
        windowFeatures(w.classes[c], machine, row);
        run.features.insert(run.features.end(), row.begin(), row.end());
        run.real.push_back(spent[c] / w.classes[c].operations);
        run.together.push_back(w.classes[c].together);
        run.operations.push_back(w.classes[c].operations);
    }
    return run;
}

}  // namespace

Expected<WindowFit> fitWindowModel(const WindowFitOptions& options) {
    RandomStream random(options.seed);
    std::vector<Machine> known, unseen;
    for (const auto& id : machineIds()) {
        auto machine = loadMachine(id);
        if (!machine) return Unexpected(machine.error());
        (among(options.unseenCores, id) ? unseen : known).push_back(std::move(*machine));
    }
    std::vector<std::string> families, others;
    for (const auto& form : kernelForms())
        (among(options.unseenKernels, form.name) ? others : families).emplace_back(form.name);
    if (known.empty() || families.empty() || unseen.empty() || others.empty())
        return fail("core.fit", "nothing is left to teach or to judge by", "cores and kernels on both sides");

    TrainingData data;
    data.names = windowFeatureNames();
    const int judged = std::max(20, options.runs / 6), all = options.runs + judged;
    int done = 0;
    std::vector<std::size_t> familyOf;  // of each row
    std::size_t family = 0;             // of the last draw
    const auto draw = [&](bool training) -> Expected<std::pair<LoopNest, Machine>> {
        for (;;) {
            const auto& cores = training ? known : unseen;
            Machine machine = cores[random.below(cores.size())];
            // Judged as they ship; taught by what they might be.
            if (training && random.uniform() < 0.8) shake(machine, random);
            const auto& kernels = training ? families : others;
            family = random.below(kernels.size());
            const KernelSpec spec = drawKernel(kernels[family], machine, random);
            if (spec.kernel == "conv" && spec.size("r") > std::min(spec.size("h"), spec.size("w"))) continue;
            auto nest = nestOf(spec, machine);
            if (!nest) return Unexpected(nest.error());
            const auto length = static_cast<double>(nest->length());
            // What is run from end to end teaches nothing, and flatters who is judged by it.
            if (length <= static_cast<double>(WindowOptions{}.whole) || length > mostOperations) continue;
            machine.title = toText(spec);
            return std::pair{std::move(*nest), std::move(machine)};
        }
    };
    for (int i = 0; i < options.runs; ++i) {
        if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped", {});
        auto drawn = draw(true);
        if (!drawn) return Unexpected(drawn.error());
        const Run run = runBoth(drawn->first, drawn->second);
        const std::size_t columns = data.columns();
        for (std::size_t c = 0; c < run.real.size(); ++c) {
            const double share = run.windows.classes[c].share;
            if (share < 0.01 || run.real[c] <= 0) continue;
            data.features.insert(data.features.end(), run.features.begin() + static_cast<std::ptrdiff_t>(c * columns),
                                 run.features.begin() + static_cast<std::ptrdiff_t>((c + 1) * columns));
            data.target.push_back(std::clamp(std::log(run.real[c] / std::max(run.together[c], 1e-4)), -1.5, 1.5));
            data.weight.push_back(run.real[c] * run.operations[c] / run.cycles);
            familyOf.push_back(family);
        }
        if (options.onRun) options.onRun(++done, all);
    }
    const TrainingOptions how = treesOf(options);
    const auto help = treesHelp(data, familyOf, families.size(), how);
    if (!help) return Unexpected(help.error());
    WindowFit fit;
    if (*help) {
        auto trained = train(data, nullptr, how);
        if (!trained) return Unexpected(trained.error());
        fit.model.regressor = *trained;
    }
    std::vector<double> ratios;
    for (int i = 0; i < judged; ++i) {
        if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped", {});
        auto drawn = draw(false);
        if (!drawn) return Unexpected(drawn.error());
        const Run run = runBoth(drawn->first, drawn->second);
        const CoreEstimate answer = estimateCore(run.windows, drawn->second, fit.model);
        double together = 0;
        for (std::size_t c = 0; c < run.together.size(); ++c) together += run.together[c] * run.operations[c];
        fit.judged.push_back({drawn->second.id, drawn->second.title, run.cycles, answer.cycles, together});
        ratios.push_back(run.cycles / answer.cycles);
        if (options.onRun) options.onRun(++done, all);
    }
    std::sort(ratios.begin(), ratios.end());
    const auto at = [&](double share) {
        return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
    };
    fit.model.low = std::min(1.0, at(0.05)), fit.model.high = std::max(1.0, at(0.95));
    double error = 0;
    for (const auto& each : fit.judged) error += std::abs(each.predicted / each.cycles - 1);
    std::string cores, kernels;
    for (const auto& each : options.unseenCores) cores += (cores.empty() ? "" : ", ") + each;
    for (const auto& each : options.unseenKernels) kernels += (kernels.empty() ? "" : ", ") + each;
    fit.model.source =
        fmt::format("{} runs of the pipeline, seed {}{}; {} of {} on {} judge: {:.1f} % off on average", options.runs,
                    options.seed, *help ? "" : ", no trees: windows alone tell kernels left out better", judged,
                    kernels, cores, 100 * error / static_cast<double>(fit.judged.size()));
    return fit;
}

}  // namespace orrery
